// Texts of strangers that must stay text: in each, something runs or looks different if it is taken for markup.
export const payloads = [
  '<script>window.hit=1</script>',
  '<img src=x onerror="window.hit=1">',
  '"><svg onload=window.hit=1>',
  "';window.hit=1;//",
  'javascript:window.hit=1',
  '<iframe srcdoc="<script>parent.hit=1</script>">',
  '{{constructor.constructor("window.hit=1")()}}',
  '<a href="javascript:window.hit=1" autofocus onfocus=window.hit=1>click</a>',
  '\u202egnp.exe <style>*{display:none}</style>',
  '</title><body onload=window.hit=1>',
  'data:text/html,<script>window.hit=1</script>',
]

// line returns a payload without the character that single-line fields refuse.
export const line = (payload) => payload.replaceAll('\u202e', '')
