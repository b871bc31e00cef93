import { describe, expect, it } from 'vitest';
import { checkRuntimeKey, isServed, runtimeProblem } from './runtime-config.ts';

const config = (text: string) =>
  new Map(text.split(',').map((part) => [part.split('=')[0] ?? '', part.endsWith('=true')] as const));

describe('runtime config', () => {
  // The stages of versions in the specification: alpha and beta versions are disabled by default.
  it.each([
    ['v1', '', true],
    ['v2', '', true],
    ['v1beta1', '', false],
    ['v2alpha1', '', false],
    ['v1beta1', 'api/beta=true', true],
    ['v2alpha1', 'api/beta=true', false],
    ['v2alpha1', 'api/alpha=true', true],
    ['v2alpha1', 'api/all=true', true],
    ['v2alpha1', 'api/all=true,api/alpha=false', false],
    ['v1', 'api/all=false,batch/v2=true', false],
    ['v1', 'api/ga=false', false],
    ['v2alpha1', 'batch/v2alpha1=true', true],
    ['v2alpha1', 'batch/v2alpha1/jobs=true', true],
    ['v2alpha1', 'batch/v2alpha1/cronjobs=true', false],
  ])('batch/%s with %j: %j', (version, switches, served) => {
    expect(isServed(switches === '' ? new Map() : config(switches), { group: 'batch', version, plural: 'jobs' })).toBe(
      served,
    );
  });

  it('lets the more specific key decide', () => {
    const narrow = config('api/all=false,api/ga=true,batch/v1=false,batch/v1/jobs=true,v1/pods=false');
    expect(isServed(narrow, { group: 'batch', version: 'v1', plural: 'jobs' })).toBe(true);
    expect(isServed(narrow, { group: 'batch', version: 'v1', plural: 'cronjobs' })).toBe(false);
    expect(isServed(narrow, { group: 'apps', version: 'v1', plural: 'deployments' })).toBe(true);
    expect(isServed(narrow, { group: 'apps', version: 'v1beta1', plural: 'deployments' })).toBe(false);
    expect(isServed(narrow, { group: '', version: 'v1', plural: 'pods' })).toBe(false);
    expect(isServed(narrow, { group: '', version: 'v1', plural: 'nodes' })).toBe(true);
  });

  it.each(['v1', 'batch/v1', 'apps/v1/deployments', 'api/all', 'api/beta'])('accepts the key %s', (key) =>
    expect(checkRuntimeKey(key, true, 'true')).toBeUndefined(),
  );
  it.each(['', 'api', 'api/x', 'batch', 'a/b/c/d', '/v1', 'batch/'])('rejects the key %j', (key) =>
    expect(checkRuntimeKey(key, true, 'true')).toBeDefined(),
  );

  it('reports keys that match no resource', () => {
    const served = [{ group: 'batch', plural: 'jobs', versions: [{ version: 'v1' }] }];
    expect(runtimeProblem(config('batch/v1=true,batch/v1/jobs=true,api/ga=true'), served)).toBeUndefined();
    expect(runtimeProblem(config('batch/v1=true,batch/v1/jobs=true,api/ga=true,batch/v2=true'), served)).toBe(
      'names "batch/v2", which this server does not have; did you mean "batch/v1"?',
    );
    expect(runtimeProblem(config('api/all=false'), served)).toContain('leaves nothing to serve');
    expect(runtimeProblem(config('api/all=false,batch/v1=true'), served)).toBeUndefined();
  });
});
