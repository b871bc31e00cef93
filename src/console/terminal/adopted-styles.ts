/**
 * Lets a library add style elements and style attributes, which the policy of the page forbids: from now on, a style element that
 * a script creates is a style sheet that the document adopts, and the style attribute of a span sets its properties one by one.
 * Returns a function that ends this and removes the style sheets. Only one caller at a time.
 *
 * The library has no option for this: none names a nonce or style sheets, a shadow root is under the same policy, and its option
 * `documentOverride` does not reach the scroll bar, which takes the document of the window.
 */
export function adoptStyles(): () => void {
  const sheets = new Set<CSSStyleSheet>();
  const createElement = (name: string, options?: ElementCreationOptions): HTMLElement => {
    if (name === 'style') return adoptedStyle(sheets);
    const element = create(name, options);
    if (name === 'span') element.setAttribute = setAttribute;
    return element;
  };
  Object.defineProperty(document, 'createElement', { value: createElement, configurable: true });
  return () => {
    Reflect.deleteProperty(document, 'createElement');
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((sheet) => !sheets.has(sheet));
  };
}

const create = (name: string, options?: ElementCreationOptions): HTMLElement =>
  Document.prototype.createElement.call(document, name, options);

/** An element whose text is a style sheet of the document, in place of a style element. */
function adoptedStyle(sheets: Set<CSSStyleSheet>): HTMLElement {
  const sheet = new CSSStyleSheet();
  sheets.add(sheet);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  const element = create('span');
  element.hidden = true;
  Object.defineProperty(element, 'textContent', { set: (text: string) => sheet.replaceSync(text) });
  return element;
}

function setAttribute(this: HTMLElement, name: string, value: string): void {
  if (name === 'style') this.style.cssText = value;
  else Element.prototype.setAttribute.call(this, name, value);
}
