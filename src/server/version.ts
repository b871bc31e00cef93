import { readFileSync } from 'node:fs';
import { apiRelease, compatibleRelease } from '../meta/index.ts';

const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** The version of this package. */
export const version = manifest.version;

/** The release, with the version of this package: `v1.33.0+orch.0.1.0`. */
export const gitVersion = `v${apiRelease.major}.${apiRelease.minor}.0+orch.${version}`;

/** The labels of the build metrics, from the body of `/version`. */
export function buildInfo() {
  const { major, minor, compiler, platform, ...body } = apiVersion();
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
  return { api, version };
}

/** Body of `/version`; clients compute the version skew from it. */
export function apiVersion() {
  const [major, minor] = [String(apiRelease.major), String(apiRelease.minor)];
  return {
    major,
    minor,
    emulationMajor: major,
    emulationMinor: minor,
    minCompatibilityMajor: String(compatibleRelease.major),
    minCompatibilityMinor: String(compatibleRelease.minor),
    gitVersion,
    gitCommit: '',
    gitTreeState: 'clean',
    buildDate: '1970-01-01T00:00:00Z',
    goVersion: process.version,
    compiler: 'node',
    platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
  };
}
