/** Labels and annotations, one a line, as kubectl describes them. */
import { isJsonObject, type Json } from '../../../meta/index.ts';
import { jsonText } from '../json.ts';

/** Longer annotations are cut. */
const maxAnnotation = 140;

/** `Labels:\tkey=value` in the order of the keys; further pairs follow `\t`. Without pairs `Labels:\t<none>`. */
export function pairLines(title: string, values: Json | undefined, between: string, gap = '\t'): string[] {
  const entries = isJsonObject(values) ? Object.entries(values) : [];
  return titledLines(
    title,
    sortedBy(entries, ([key]) => key).map(([key, value]) => `${key}${between}${jsonText(value)}`),
    gap,
  );
}

/** In the order of a text; items with the same one stay in their order. */
export const sortedBy = <T>(items: readonly T[], text: (item: T) => string | undefined): T[] =>
  items.toSorted((a, b) => {
    const [one, other] = [text(a) ?? '', text(b) ?? ''];
    return one < other ? -1 : one > other ? 1 : 0;
  });

/** The first text behind the title, the others below it. */
export const titledLines = (title: string, texts: readonly string[], gap = '\t'): string[] =>
  texts.length === 0 ? [`${title}:${gap}<none>`] : texts.map((text, i) => `${i === 0 ? `${title}:` : ''}${gap}${text}`);

/** Long annotations, and those of several lines, begin below their key. */
export function annotationLines(title: string, values: Json | undefined): string[] {
  const entries = isJsonObject(values) ? Object.entries(values) : [];
  const texts = sortedBy(entries, ([key]) => key).flatMap(([key, value]) => {
    const text = jsonText(value).replace(/\n$/, '');
    if (!text.includes('\n') && key.length + text.length + 2 <= maxAnnotation) return [`${key}: ${text}`];
    return [`${key}:`, ...text.split('\n').map((line) => `  ${shortened(line)}`)];
  });
  return titledLines(title, texts);
}

const shortened = (text: string) => (text.length > maxAnnotation - 2 ? `${text.slice(0, maxAnnotation - 2)}...` : text);
