/** The labels of a selector such as `a=1,b=2`. */
export type LabelPairs = readonly (readonly [key: string, value: string])[];

/** Parses labels such as `a=1,b=2`; undefined when they are invalid. */
export function parseSelector(text: string): LabelPairs | undefined {
  if (text === '') return [];
  const pairs = text.split(',').map((part) => part.split('=').map((word) => word.trim()));
  return pairs.every((words) => words.length === 2) ? pairs.map(([key = '', value = '']) => [key, value]) : undefined;
}
