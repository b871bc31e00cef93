import type { Json } from '../meta/index.ts';

/** A JSON Schema of draft 2020-12, of the keywords that definitions have. A reference is `#/$defs/` and a name of the model. */
export interface JsonSchema {
  readonly $ref?: string;
  /** The referenced object is part of another one and may leave out `apiVersion` and `kind`; of no JSON Schema. */
  readonly embedded?: true;
  readonly title?: string;
  readonly description?: string;
  /** Absent: any value. */
  readonly type?: readonly JsonType[];
  readonly const?: Json;
  readonly enum?: readonly Json[];
  readonly format?: string;
  readonly default?: Json;
  /** In the syntax of JavaScript with the flag `u`. */
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly multipleOf?: number;
  readonly items?: JsonSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly properties?: { readonly [name: string]: JsonSchema };
  readonly required?: readonly string[];
  readonly additionalProperties?: JsonSchema | true;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly allOf?: readonly JsonSchema[];
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly not?: JsonSchema;
}

export type JsonType = 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean' | 'null';

/** The types that are written. */
export interface Model {
  /** The names of the kinds among them. */
  readonly kinds: readonly string[];
  /** Objects by their names, in the order in which they are written. */
  readonly types: ReadonlyMap<string, JsonSchema>;
}

const prefix = '#/$defs/';
export const referenceTo = (name: string): string => prefix + name;

/** The name of the type that a schema refers to. */
export const referredName = ({ $ref }: JsonSchema): string | undefined => $ref?.slice(prefix.length);
