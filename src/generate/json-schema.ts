import { prettyJson } from '../codec/index.ts';
import type { Json } from '../meta/index.ts';
import { type Model, referenceTo } from './model.ts';

/** One JSON Schema of draft 2020-12, for the objects of all kinds of the model. */
export function writeJsonSchema({ kinds, types }: Model): string {
  const roots = kinds.map((name) => ({ $ref: referenceTo(name) }));
  const document = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    ...(roots.length === 1 ? roots[0] : { oneOf: roots }),
    $defs: Object.fromEntries(types),
  };
  return `${prettyJson(document as unknown as Json)}\n`;
}
