const most = 16_000; // characters of settings.portal.logo
const sides = [96, 64, 48]; // pixels; the last one always fits

// shrunk draws the picture of a file in a square, and returns it as a PNG in base64. It throws if the file is no picture.
export async function shrunk(file: File): Promise<string> {
  const picture = await createImageBitmap(file);
  let text = "";
  for (const side of sides) {
    const scale = side / Math.max(picture.width, picture.height);
    const [width, height] = [picture.width * scale, picture.height * scale];
    const canvas = new OffscreenCanvas(side, side);
    const pen = canvas.getContext("2d")!;
    pen.imageSmoothingQuality = "high";
    pen.drawImage(picture, (side - width) / 2, (side - height) / 2, width, height);
    const png = await (await canvas.convertToBlob({ type: "image/png" })).arrayBuffer();
    text = btoa(String.fromCharCode(...new Uint8Array(png)));
    if (text.length <= most) break;
  }
  return text;
}
