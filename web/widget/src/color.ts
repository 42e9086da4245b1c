/**
 * The relative luminance of a color #RRGGBB. It differs by less than 0.001 from the definition of
 * WCAG 2, which has another formula for parts that are nearly black.
 */
export function luminance(color: string): number {
  const [r, g, b] = [1, 3, 5].map((at) =>
    ((parseInt(color.slice(at, at + 2), 16) / 255 + 0.055) / 1.055) ** 2.4) as [number, number, number]
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

/**
 * The text color with the higher contrast on a background. Black and white are equal at
 * the luminance √(1.05·0.05)−0.05 ≈ 0.179, where both have a contrast of 4.58 to 1.
 */
export function ink(background: string): string {
  return luminance(background) > 0.179 ? '#000' : '#fff'
}
