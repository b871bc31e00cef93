import { createReadStream } from 'node:fs';
import { parseYaml } from '../../codec/index.ts';
import type { Json } from '../../meta/index.ts';
import { permissionProblem } from '../private-files.ts';
import { StartError, systemReason } from '../start-error.ts';

/** The longest file of a setting (bytes). */
const maxFileBytes = 8 * 1024 * 1024;

/** The text of a file that a setting names, such as `--config`. @throws StartError, also when it is over 8 MiB */
export async function readFileOf(setting: string, path: string): Promise<string> {
  const where = `${setting}=${JSON.stringify(path)}`;
  const chunks: Buffer[] = [];
  try {
    // Not all of it: a device has no end.
    for await (const chunk of createReadStream(path, { end: maxFileBytes })) chunks.push(chunk as Buffer);
  } catch (error) {
    throw new StartError(`${where} cannot be read: ${systemReason(error)}`, error);
  }
  const bytes = Buffer.concat(chunks);
  if (bytes.length > maxFileBytes) throw new StartError(`${where} cannot be read: it is larger than 8 MiB`);
  return bytes.toString();
}

/** The text of the file of a flag. @throws StartError */
export const readSettingFile = (flag: string, path: string): Promise<string> => readFileOf(`--${flag}`, path);

/** Permissions of those who are neither the owner of a file nor in its group. */
export const othersPermissions = 0o007;

/** The text of the file of a flag that holds a private key, which others may not read. @throws StartError */
export async function readPrivateKey(flag: string, path: string): Promise<string> {
  const text = await readSettingFile(flag, path);
  const problem = await permissionProblem(path, othersPermissions);
  if (problem !== undefined) throw new StartError(`--${flag}=${JSON.stringify(path)} ${problem}`);
  return text;
}

/** The same of a file that may hold public keys only, which anybody may read. @throws StartError */
export async function readKeys(flag: string, path: string): Promise<string> {
  const text = await readSettingFile(flag, path);
  return text.includes('PRIVATE KEY-----') ? readPrivateKey(flag, path) : text;
}

/** The parsed YAML of the file of `--config`. @throws StartError */
export async function readConfig(path: string): Promise<Json> {
  const text = await readSettingFile('config', path);
  try {
    const { value, findings } = parseYaml(Buffer.from(text));
    if (findings.length === 0) return value;
    throw new StartError(`--config=${JSON.stringify(path)}: ${findings.join('; ')}`);
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError(`--config=${JSON.stringify(path)} cannot be read: ${systemReason(error)}`, error);
  }
}
