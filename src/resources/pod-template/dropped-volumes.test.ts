import { describe, expect, test } from 'vitest';
import { type ApiObject, defaultFeatures, type JsonObject, jsonCopy, namesFor } from '../../meta/index.ts';
import type { ResourceDefinition } from '../../registry/index.ts';
import { compile, dropGated, gatedFields, type StructSchema } from '../../schema/index.ts';
import { daemonSets } from '../apps/daemon-sets.ts';
import { deployments } from '../apps/deployments.ts';
import { replicaSets } from '../apps/replica-sets.ts';
import { statefulSets } from '../apps/stateful-sets.ts';
import { cronJobs } from '../batch/cron-jobs.ts';
import { jobs } from '../batch/jobs.ts';
import { podTemplates } from '../core/pod-templates.ts';
import { pods } from '../core/pods.ts';
import { replicationControllers } from '../core/replication-controllers.ts';

const names = namesFor('k8s.io');
const context = { names, now: 0, requester: { name: 'jane', groups: [] }, warn: () => {} };

/** The object as a server stores it on a create, or on an update, with the gate ImageVolume off. */
function written({ versions, strategy }: ResourceDefinition, sent: JsonObject, old?: ApiObject): JsonObject {
  const schema = versions[0]?.schema as StructSchema;
  const object = compile(schema, names).decode({ metadata: { name: 'x' }, ...jsonCopy(sent) }).value as ApiObject;
  strategy.defaults?.(object, context);
  const gated = gatedFields(schema, { ...defaultFeatures, ImageVolume: false });
  if (gated !== undefined) dropGated(object, old, gated);
  if (old === undefined) strategy.prepareCreate?.(object, context);
  else strategy.prepareUpdate?.(object, old, context);
  return object;
}

const mount = (name: string) => ({ name, mountPath: `/${name}` });
const image = { name: 'v', image: { reference: 'r' } };
const container = (...volumes: string[]) => ({ name: 'c', image: 'i', volumeMounts: volumes.map(mount) });
const spec = { volumes: [image, { name: 'w' }], initContainers: [container('v')], containers: [container('v', 'w')] };
const inTemplate = (podSpec: JsonObject) => ({ spec: { template: { spec: podSpec } } });
const kinds: readonly (readonly [string, ResourceDefinition, (podSpec: JsonObject) => JsonObject, string])[] = [
  ['pods', pods, (podSpec) => ({ spec: podSpec }), 'spec'],
  ['pod templates', podTemplates, (podSpec) => ({ template: { spec: podSpec } }), 'template.spec'],
  ['replication controllers', replicationControllers, inTemplate, 'spec.template.spec'],
  ['replica sets', replicaSets, inTemplate, 'spec.template.spec'],
  ['deployments', deployments, inTemplate, 'spec.template.spec'],
  ['daemon sets', daemonSets, inTemplate, 'spec.template.spec'],
  ['stateful sets', statefulSets, inTemplate, 'spec.template.spec'],
  ['jobs', jobs, inTemplate, 'spec.template.spec'],
  [
    'cron jobs',
    cronJobs,
    (podSpec) => ({ spec: { jobTemplate: inTemplate(podSpec) } }),
    'spec.jobTemplate.spec.template.spec',
  ],
];

describe('an image volume without its feature', () => {
  test.each(kinds)('is removed from %s, with its mounts', (_, kind, around, path) => {
    const without = {
      volumes: [{ name: 'w', emptyDir: {} }],
      containers: [{ volumeMounts: [mount('w')] }],
      initContainers: [{ name: 'c' }],
    };
    const created = written(kind, around(spec));
    const updated = written(kind, around(spec), written(kind, around({ containers: [] })) as JsonObject as ApiObject);
    for (const object of [created, updated]) {
      expect(object).toHaveProperty(path, expect.objectContaining({ volumes: without.volumes }));
      expect(object).toMatchObject(around(without));
      expect(JSON.stringify(object)).not.toContain('/v');
    }
  });

  test('leaves no empty lists', () => {
    const object = written(pods, { spec: { volumes: [image], containers: [container('v')] } });
    expect(object).not.toHaveProperty('spec.volumes');
    expect(object).not.toHaveProperty('spec.containers.0.volumeMounts');
  });

  test('stays in an object that has it', () => {
    const old = compile(pods.versions[0]?.schema as StructSchema, names).decode({ metadata: {}, spec });
    expect(written(pods, { spec }, old.value as ApiObject)).toMatchObject({
      spec: { volumes: [image, { name: 'w' }] },
    });
  });
});
