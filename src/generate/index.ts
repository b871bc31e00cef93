/** TypeScript types, zod schemas and JSON Schemas of kinds: of custom ones from their definitions, of built-in ones from their declarations. */
import { writeJsonSchema } from './json-schema.ts';
import type { Model } from './model.ts';
import { writeTypeScript } from './typescript.ts';
import { writeZod } from './zod.ts';

export { builtInTypes } from './built-in.ts';
export { DefinitionError, isDefinition, modelOfDefinitions, readDefinition, type Source } from './definitions.ts';
export type { Model } from './model.ts';

/** The formats in which the types of a model can be written. */
export const formats = { typescript: writeTypeScript, zod: writeZod, 'json-schema': writeJsonSchema } satisfies {
  readonly [format: string]: (model: Model) => string;
};
