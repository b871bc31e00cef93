import { readFile } from 'node:fs/promises';
import { parseYaml } from '../codec/index.ts';
import type { Json } from '../meta/index.ts';
import { checkOwnerOnly } from './files.ts';
import { StartError, systemReason } from './start-error.ts';

/** The text of the file of a flag. @throws StartError */
export async function readSettingFile(flag: string, path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new StartError(`--${flag}=${JSON.stringify(path)} cannot be read: ${systemReason(error)}`, error);
  }
}

/** The text of the file of a flag that holds a secret, which its owner alone may read. @throws StartError */
export async function readSecretFile(flag: string, path: string): Promise<string> {
  const text = await readSettingFile(flag, path);
  await checkOwnerOnly(path, `--${flag}=${JSON.stringify(path)}`);
  return text;
}

/** The same of a file that may hold public keys, which anybody may read. @throws StartError */
export async function readKeyFile(flag: string, path: string): Promise<string> {
  const text = await readSettingFile(flag, path);
  if (text.includes('PRIVATE KEY-----')) await checkOwnerOnly(path, `--${flag}=${JSON.stringify(path)}`);
  return text;
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
