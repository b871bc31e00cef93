import { constants } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { parseYaml } from '../codec/index.ts';
import type { Json } from '../meta/index.ts';
import { shellWord } from './shell-word.ts';
import { StartError, systemReason } from './start-error.ts';

/** The text of the file of a flag. @throws StartError */
export async function readSettingFile(flag: string, path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new StartError(`--${flag}=${JSON.stringify(path)} cannot be read: ${systemReason(error)}`, error);
  }
}

/** Rights of others than the owner of a file. */
const ofOthers = 0o077;

/** The text of the file of a flag that holds a secret, which its owner alone may read. @throws StartError */
export async function readSecretFile(flag: string, path: string): Promise<string> {
  const text = await readSettingFile(flag, path);
  await checkOwnerOnly(flag, path);
  return text;
}

/** The same of a file that may hold public keys, which anybody may read. @throws StartError */
export async function readKeyFile(flag: string, path: string): Promise<string> {
  const text = await readSettingFile(flag, path);
  if (text.includes('PRIVATE KEY-----')) await checkOwnerOnly(flag, path);
  return text;
}

/** Windows has no such modes. */
async function checkOwnerOnly(flag: string, path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const { mode } = await stat(path);
  // A pipe or a device, such as that of a shell's process substitution, ends with who gave it.
  if ((mode & constants.S_IFMT) !== constants.S_IFREG || (mode & ofOthers) === 0) return;
  const found = (mode & 0o777).toString(8).padStart(4, '0');
  throw new StartError(
    `--${flag}=${JSON.stringify(path)} is secret, and open to others than its owner (mode ${found}): chmod 600 ${shellWord(path)}`,
  );
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
