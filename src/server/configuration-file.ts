/** Files that hold a configuration of a kind and a version of its own. */
import { parseYaml } from '../codec/index.ts';
import { type Json, type Names, StatusError } from '../meta/index.ts';
import { type ConfigurationFormat, decodeConfiguration } from '../schema/index.ts';
import { readFileOf } from './read-file.ts';
import { StartError } from './start-error.ts';

/** A configuration that has been read, and where it is, for messages. */
export interface Found {
  readonly value: Json;
  readonly where: string;
}

/** @throws StartError that names every problem */
export function decodeFound<T>(format: ConfigurationFormat<T>, { value, where }: Found, names: Names): T {
  const decoded = decodeConfiguration(format, value, names);
  if ('value' in decoded) return decoded.value;
  throw new StartError(`${where}: ${decoded.problems.join('; ')}`);
}

/** The YAML or JSON of the file of a setting. @throws StartError */
export const readYaml = async (setting: string, path: string): Promise<Found> =>
  parseFound(setting, path, await readFileOf(setting, path));

/** The YAML or JSON of the text of a file. @throws StartError */
export function parseFound(setting: string, path: string, text: string): Found {
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
