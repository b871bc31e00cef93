import { createReadStream } from 'node:fs';
import { parseYaml } from '../../codec/index.ts';
import type { Json } from '../../meta/index.ts';
import { permissionProblem } from '../private-files.ts';
import { StartError, systemReason } from '../start-error.ts';

/** Maximum size of the file of a setting in bytes. */
const maxFileBytes = 8 * 1024 * 1024;

/** Reads the file of a setting, such as `--config`. @throws StartError, also when it is larger than 8 MiB */
export async function readFileOf(setting: string, path: string): Promise<string> {
  const where = `${setting}=${JSON.stringify(path)}`;
  const chunks: Buffer[] = [];
  try {
    // Limited, because a device has no end.
    for await (const chunk of createReadStream(path, { end: maxFileBytes })) chunks.push(chunk as Buffer);
  } catch (error) {
    throw new StartError(`${where} cannot be read: ${systemReason(error)}`, error);
  }
  const bytes = Buffer.concat(chunks);
  if (bytes.length > maxFileBytes) throw new StartError(`${where} cannot be read: it is larger than 8 MiB`);
  return bytes.toString();
}

/** Reads the file of a flag. @throws StartError */
export const readSettingFile = (flag: string, path: string): Promise<string> => readFileOf(`--${flag}`, path);

/** The permission bits of others: neither owner nor group. */
export const othersPermissions = 0o007;

/** Reads the private key file of a flag, which others must not be able to read. @throws StartError */
export async function readPrivateKey(flag: string, path: string): Promise<string> {
  const text = await readSettingFile(flag, path);
  const problem = await permissionProblem(path, othersPermissions);
  if (problem !== undefined) throw new StartError(`--${flag}=${JSON.stringify(path)} ${problem}`);
  return text;
}

/** Like `readPrivateKey`; a file with only public keys may be readable. @throws StartError */
export async function readKeys(flag: string, path: string): Promise<string> {
  const text = await readSettingFile(flag, path);
  return text.includes('PRIVATE KEY-----') ? readPrivateKey(flag, path) : text;
}

/** Reads and parses the file of `--config`. @throws StartError */
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
