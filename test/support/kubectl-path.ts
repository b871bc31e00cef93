import { existsSync, mkdirSync, realpathSync, symlinkSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { apiRelease, formatRelease } from '../../src/meta/release.ts';

const links = join(dirname(dirname(import.meta.dirname)), 'dist/test/bin');

/**
 * A PATH on which `kubectl` is that of the release that the server serves. Some packages install a dispatcher instead: each
 * call then asks the server for its version and starts the kubectl of that release from the same folder, which takes twice as
 * long.
 */
export function pathWithKubectl(path: string): string {
  const kubectl = path
    .split(delimiter)
    .map((folder) => join(folder, 'kubectl'))
    .find((file) => existsSync(file));
  const ofRelease = kubectl && join(dirname(realpathSync(kubectl)), `kubectl.${formatRelease(apiRelease)}`);
  if (ofRelease === undefined || !existsSync(ofRelease)) return path;
  const link = join(links, 'kubectl');
  mkdirSync(links, { recursive: true });
  try {
    symlinkSync(ofRelease, link);
  } catch (error) {
    // An earlier run has made it, or one that began at the same time.
    if (!existsSync(link)) throw error;
  }
  return `${links}${delimiter}${path}`;
}
