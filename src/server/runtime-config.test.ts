import { describe, expect, it } from 'vitest';
import { resolveFeatures } from './feature-gates.ts';
import { checkRuntimeKey, isServed, unknownRuntimeKeys } from './runtime-config.ts';

const config = (text: string) =>
  new Map(text.split(',').map((part) => [part.split('=')[0] ?? '', part.endsWith('=true')] as const));

describe('runtime config', () => {
  it('serves everything unless told otherwise', () => {
    expect(isServed(new Map(), 'batch', 'v1', 'jobs')).toBe(true);
  });

  it('lets the narrower key decide', () => {
    const narrow = config('api/all=false,api/ga=true,batch/v1=false,batch/v1/jobs=true,v1/pods=false');
    expect(isServed(narrow, 'batch', 'v1', 'jobs')).toBe(true);
    expect(isServed(narrow, 'batch', 'v1', 'cronjobs')).toBe(false);
    expect(isServed(narrow, 'apps', 'v1', 'deployments')).toBe(true);
    expect(isServed(narrow, 'apps', 'v1beta1', 'deployments')).toBe(false);
    expect(isServed(narrow, '', 'v1', 'pods')).toBe(false);
    expect(isServed(narrow, '', 'v1', 'nodes')).toBe(true);
  });

  it.each(['v1', 'batch/v1', 'apps/v1/deployments', 'api/all', 'api/beta'])('takes the key %s', (key) =>
    expect(checkRuntimeKey(key)).toBeUndefined(),
  );
  it.each(['', 'api', 'api/x', 'batch', 'a/b/c/d', '/v1', 'batch/'])('refuses the key %j', (key) =>
    expect(checkRuntimeKey(key)).toBeDefined(),
  );

  it('tells of keys that name nothing', () => {
    const served = [{ group: 'batch', plural: 'jobs', versions: [{ version: 'v1' }] }];
    expect(unknownRuntimeKeys(config('batch/v1=true,batch/v1/jobs=true,api/ga=true,batch/v2=true'), served)).toEqual([
      'names "batch/v2", which this server does not have; did you mean "batch/v1"?',
    ]);
  });
});

describe('features', () => {
  it('follow their own switch before that of their stage', () => {
    expect(resolveFeatures(new Map()).APIResponseCompression).toBe(true);
    expect(resolveFeatures(new Map([['AllBeta', false]])).APIResponseCompression).toBe(false);
    const both = new Map([
      ['AllBeta', false],
      ['APIResponseCompression', true],
    ]);
    expect(resolveFeatures(both).APIResponseCompression).toBe(true);
  });
});
