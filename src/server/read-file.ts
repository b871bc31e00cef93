import { readFile } from 'node:fs/promises';
import { StartError, systemReason } from './start-error.ts';

/** The text of a file that a setting names. @throws StartError */
export async function readSettingFile(flag: string, path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new StartError(`--${flag}=${JSON.stringify(path)} cannot be read: ${systemReason(error)}`, error);
  }
}
