import { expect, it } from 'vitest';
import { formatGroupResource } from '../meta/index.ts';
import { builtinResources } from './index.ts';

it('only jobs and replication controllers orphan by default, and only events are ignored by the garbage collector', () => {
  const policies = builtinResources.flatMap(({ group, plural, strategy }) =>
    strategy.garbageCollectionPolicy === undefined
      ? []
      : [[formatGroupResource({ group, resource: plural }), strategy.garbageCollectionPolicy]],
  );
  expect(Object.fromEntries(policies)).toEqual({
    'jobs.batch': 'OrphanDependents',
    replicationcontrollers: 'OrphanDependents',
    events: 'Unsupported',
    'events.events.{domain}': 'Unsupported',
  });
});

it('deleting a job without a propagation policy has a warning', () => {
  const warnings = builtinResources.flatMap(({ plural, strategy }) =>
    strategy.noPolicyWarning === undefined ? [] : [[plural, strategy.noPolicyWarning]],
  );
  expect(Object.fromEntries(warnings)).toEqual({
    jobs: 'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning',
  });
});
