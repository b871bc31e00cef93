import { readFileSync } from 'node:fs';
import type { JsonObject } from '../meta/index.ts';

const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** The version of this package. */
export const version = manifest.version;

/** The API release that is served. */
export const apiRelease = { major: 1, minor: 33 };

/** The release in the form of `v1.2.3`, with the version of this package. */
export const gitVersion = `v${apiRelease.major}.${apiRelease.minor}.0+orch.${version}`;

/** Body of `/version`; clients compute the version skew from it. */
export function apiVersion(): JsonObject {
  const [major, minor] = [String(apiRelease.major), String(apiRelease.minor)];
  return {
    major,
    minor,
    emulationMajor: major,
    emulationMinor: minor,
    minCompatibilityMajor: major,
    minCompatibilityMinor: String(apiRelease.minor - 1),
    gitVersion,
    gitCommit: '',
    gitTreeState: 'clean',
    buildDate: '1970-01-01T00:00:00Z',
    goVersion: process.version,
    compiler: 'node',
    platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
  };
}
