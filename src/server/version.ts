import { readFileSync } from 'node:fs';
import { apiRelease, formatRelease } from '../meta/index.ts';
import type { ServedReleases } from './settings/release-flags.ts';

const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** The version of this package. */
export const version = manifest.version;

/** The release, with the version of this package: `v1.33.0+orch.0.1.0`. */
export const gitVersion = `v${formatRelease(apiRelease)}.0+orch.${version}`;

/** The labels of the build metrics, from the body of `/version`. */
export function buildInfo(releases: ServedReleases) {
  const { major, minor, compiler, platform, ...body } = apiVersion(releases);
  const api = {
    major,
    minor,
    git_version: body.gitVersion,
    git_commit: body.gitCommit,
    git_tree_state: body.gitTreeState,
    build_date: body.buildDate,
    go_version: body.goVersion,
    compiler,
    platform,
  };
  const served = {
    binary: `${major}.${minor}.0`,
    component: 'kube',
    emulation: formatRelease(releases.emulated),
    min_compat: formatRelease(releases.compatible),
  };
  return { api, served, version };
}

/** Body of `/version`; clients compute the version skew from it. */
export function apiVersion({ emulated, compatible }: ServedReleases) {
  return {
    major: String(apiRelease.major),
    minor: String(apiRelease.minor),
    emulationMajor: String(emulated.major),
    emulationMinor: String(emulated.minor),
    minCompatibilityMajor: String(compatible.major),
    minCompatibilityMinor: String(compatible.minor),
    gitVersion,
    gitCommit: '',
    gitTreeState: 'clean',
    buildDate: '1970-01-01T00:00:00Z',
    goVersion: process.version,
    compiler: 'node',
    platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
  };
}
