import { type FieldError, type Json, type Names, StatusError, unknownField } from '../meta/index.ts';
import { compile } from './compile.ts';
import type { StructSchema } from './declare.ts';
import { validate } from './validate.ts';

/** The kind of a configuration file in one version. */
interface VersionedKind {
  /** The placeholder `{domain}` is replaced with the API domain. */
  readonly apiVersion: string;
  readonly kind: string;
}

/** The format of a configuration of type `T`. */
export interface ConfigurationFormat<T = unknown> {
  /** The present version first. Empty: it has neither `apiVersion` nor `kind`. */
  readonly kinds: readonly VersionedKind[];
  readonly schema: StructSchema;
  /** The errors of a decoded configuration that its schema does not find. */
  check?(configuration: T, names: Names): FieldError[];
}

export const versionedKinds = (group: string, kind: string, ...versions: readonly string[]): VersionedKind[] =>
  versions.map((version) => ({ apiVersion: `${group}.{domain}/${version}`, kind }));

/** Decodes and validates a configuration. Each problem names a field. */
export function decodeConfiguration<T>(
  format: ConfigurationFormat<T>,
  value: Json,
  names: Names,
): { readonly value: T } | { readonly problems: readonly string[] } {
  const type = compile(format.schema, names);
  try {
    const { value: decoded, unknown } = type.decode(value);
    const misshapen = [
      ...kindProblems(format.kinds, decoded, names),
      ...unknown.map(unknownField),
      ...validate(decoded, type).map(formatError),
    ];
    if (misshapen.length > 0) return { problems: misshapen };
    const invalid = format.check?.(decoded as T, names) ?? [];
    return invalid.length > 0 ? { problems: invalid.map(formatError) } : { value: decoded as T };
  } catch (error) {
    if (error instanceof StatusError) return { problems: [error.message] };
    throw error;
  }
}

const formatError = ({ field, message }: FieldError): string => `${field}: ${message}`;

function kindProblems(
  kinds: readonly VersionedKind[],
  { apiVersion = '', kind = '' }: { readonly [field: string]: Json | undefined },
  { domain }: Names,
): string[] {
  if (kinds.length === 0) return [];
  const known = kinds.map((one) => ({ ...one, apiVersion: one.apiVersion.replace('{domain}', domain) }));
  if (known.some((one) => one.apiVersion === apiVersion && one.kind === kind)) return [];
  const supported = known.map((one) => `${one.kind} of ${one.apiVersion}`).join(', ');
  return [`apiVersion and kind: ${JSON.stringify(kind)} of ${JSON.stringify(apiVersion)} must be one of ${supported}`];
}
