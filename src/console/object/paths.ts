/** The paths of fields, as in `["spec", "containers", 0, "image"]`. */
export type FieldPath = readonly (string | number)[];

/** A path as a key of maps. */
export const pathKey = (path: FieldPath): string => JSON.stringify(path);

/** A path as people write it: `spec.containers[0].image`. */
export const pathText = (path: FieldPath): string =>
  path.reduce<string>(
    (text, part) =>
      typeof part === 'number'
        ? `${text}[${part}]`
        : /^[\w-]+$/.test(part)
          ? join(text, part)
          : `${text}[${JSON.stringify(part)}]`,
    '',
  );

const join = (text: string, part: string): string => (text === '' ? part : `${text}.${part}`);

/** The path of each line of YAML in block style; a line of a text has the path of the text. */
export function pathsOfLines(lines: readonly string[]): FieldPath[] {
  const open: { readonly indent: number; readonly path: FieldPath; items: number }[] = [];
  let text: { readonly indent: number; readonly path: FieldPath } | undefined;
  return lines.map((line) => {
    const indent = line.search(/\S|$/);
    if (text !== undefined && (indent > text.indent || line.trim() === '')) return text.path;
    text = undefined;
    const path = enter(open, line, indent);
    if (/:\s*[|>][-+\d]*\s*$/.test(line)) text = { indent: open.at(-1)?.indent ?? indent, path };
    return path;
  });
}

/** Enters the items and the key that begin on a line. */
function enter(
  open: { readonly indent: number; readonly path: FieldPath; items: number }[],
  line: string,
  lineIndent: number,
): FieldPath {
  let indent = lineIndent;
  let rest = line.slice(indent);
  for (let item = /^-(?:\s+|$)/.exec(rest); item !== null; item = /^-(?:\s+|$)/.exec(rest)) {
    // The items of a list may be as far left as its key.
    while ((open.at(-1)?.indent ?? -1) > indent || (open.at(-1)?.indent === indent && isItem(open.at(-1)?.path))) {
      open.pop();
    }
    const list = open.at(-1);
    const path = [...(list?.path ?? []), list === undefined ? 0 : list.items++];
    open.push({ indent, path, items: 0 });
    indent += item[0].length;
    rest = rest.slice(item[0].length);
  }
  const key = /^(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([^\s#'"[\]{},][^#]*?))\s*:(?:\s|$)/.exec(rest);
  if (key === null) return open.at(-1)?.path ?? [];
  while ((open.at(-1)?.indent ?? -1) >= indent) open.pop();
  const path = [...(open.at(-1)?.path ?? []), key[1] ?? key[2] ?? key[3] ?? ''];
  open.push({ indent, path, items: 0 });
  return path;
}

const isItem = (path: FieldPath = []): boolean => typeof path.at(-1) === 'number';
