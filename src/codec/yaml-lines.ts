import type { Path } from '../meta/index.ts';
import { yaml } from './yaml.ts';

/**
 * Finds the line of a field in a YAML document that has been parsed before; that of the nearest parent when the field is
 * missing. Lines count from 1. For messages about files of the operator: no limit holds here.
 */
export function yamlLines(text: string): (path: Path) => number {
  const { isMap, isScalar, isSeq, LineCounter, parseDocument } = yaml();
  const lines = new LineCounter();
  const { contents } = parseDocument(text, { lineCounter: lines, uniqueKeys: false, logLevel: 'silent' });
  return (path) => {
    let node: unknown = contents;
    let offset = contents?.range[0] ?? 0;
    for (const step of path) {
      if (isMap(node)) {
        const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(step));
        if (pair === undefined) break;
        offset = isScalar(pair.key) ? (pair.key.range?.[0] ?? offset) : offset;
        node = pair.value;
      } else if (isSeq(node) && typeof step === 'number') {
        node = node.items[step];
        offset = (node as { readonly range?: readonly number[] } | undefined)?.range?.[0] ?? offset;
      } else break;
    }
    return lines.linePos(offset).line;
  };
}
