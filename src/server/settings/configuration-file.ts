/** Files that hold a configuration of a kind and a version of its own. */
import { parseYaml } from '../../codec/index.ts';
import {
  aggregateMessages,
  type FieldError,
  isJsonObject,
  type Json,
  type Names,
  StatusError,
} from '../../meta/index.ts';
import { type ConfigurationFormat, decodeConfiguration } from '../../schema/index.ts';
import { StartError } from '../start-error.ts';
import { readFileOf } from './read-file.ts';

/** A configuration that has been read, and where it is, for messages. */
export interface ConfigurationDocument {
  readonly value: Json;
  readonly where: string;
}

/** @throws StartError that names every problem */
export function decodeDocument<T>(
  format: ConfigurationFormat<T>,
  { value, where }: ConfigurationDocument,
  names: Names,
): T {
  const decoded = decodeConfiguration(format, value, names);
  if ('value' in decoded) return decoded.value;
  throw new StartError(`${where}: ${decoded.problems.join('; ')}`);
}

/** The YAML or JSON of the file of a setting. @throws StartError */
export const readYaml = async (setting: string, path: string): Promise<ConfigurationDocument> =>
  parseDocument(setting, path, await readFileOf(setting, path));

/** The YAML or JSON of the text of a file. @throws StartError */
export function parseDocument(setting: string, path: string, text: string): ConfigurationDocument {
  const where = `${setting}=${JSON.stringify(path)}`;
  try {
    const { value, findings } = parseYaml(Buffer.from(text));
    if (findings.length === 0) return { value, where };
    throw new StartError(`${where}: ${findings.join('; ')}`);
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    throw new StartError(`${where}: ${error.message}`, error);
  }
}

/** The longest text that is repeated in a message (characters). */
const maxQuotedLength = 1_000;
/** The kinds of the files of `--authentication-config` and `--authorization-config`. */
const accessKinds: readonly string[] = ['AuthenticationConfiguration', 'AuthorizationConfiguration'];

/**
 * What is wrong with the type of a configuration of access, in the words of the reference server; undefined when it has a
 * kind and a version that are not those of the other one. The text is repeated only when it is short and has no fields
 * other than those of the configuration: another file may hold secrets.
 */
export function accessTypeProblem(
  kind: string,
  format: ConfigurationFormat,
  value: Json,
  text: string,
): string | undefined {
  if (!isJsonObject(value)) return undefined;
  const { apiVersion = '', kind: actualKind = '' } = value;
  if (actualKind !== '' && apiVersion !== '') {
    const isOther = typeof actualKind === 'string' && actualKind !== kind && accessKinds.includes(actualKind);
    return isOther ? `expected ${kind}, got *apiserver.${actualKind}` : undefined;
  }
  const { fields } = format.schema;
  const isQuotable =
    text.length <= maxQuotedLength && Object.keys(value).every((field) => Object.hasOwn(fields, field));
  return `Object '${actualKind === '' ? 'Kind' : 'apiVersion'}' is missing${isQuotable ? ` in '${text}'` : ''}`;
}

/** The problems of a configuration that cannot be decoded, as one text. */
export function decodingProblem(problems: readonly string[]): string {
  const strict = problems.every((problem) => problem.startsWith('unknown field'));
  return `${strict ? 'strict decoding error: ' : ''}${aggregateMessages(problems)}`;
}

/** @throws StartError that names every field, if there are errors */
export function rejectFieldErrors(where: string, errors: readonly FieldError[]): void {
  if (errors.length === 0) return;
  throw new StartError(`${where}: ${aggregateMessages(errors.map(({ field, message }) => `${field}: ${message}`))}`);
}
