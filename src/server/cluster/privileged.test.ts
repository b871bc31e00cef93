import { afterAll, describe, expect, it } from 'vitest';
import { createServer, type OrchServer } from '../server.ts';

const disableAdmissionPlugins = ['ServiceAccount'];
const strict = await createServer({ controllers: '-*', disableAdmissionPlugins });
const lax = await createServer({ controllers: '-*', disableAdmissionPlugins, allowPrivileged: true });
const fake = await createServer({ controllers: '-*', disableAdmissionPlugins, fakeNodes: 1 });
afterAll(() => Promise.all([strict.close(), lax.close(), fake.close()]));

const container = { name: 'c', image: 'i', securityContext: { privileged: true } };
const labels = { app: 'a' };
const template = { metadata: { labels }, spec: { containers: [container] } };
const selected = { selector: { matchLabels: labels }, template };
const jobTemplate = { spec: { template: { spec: { containers: [container], restartPolicy: 'Never' } } } };
const privileged: [apiVersion: string, resource: string, kind: string, path: string, fields: object][] = [
  ['v1', 'pods', 'Pod', 'spec', { spec: { containers: [container] } }],
  ['v1', 'podtemplates', 'PodTemplate', 'template.spec', { template }],
  ['v1', 'replicationcontrollers', 'ReplicationController', 'spec.template.spec', { spec: { template } }],
  ['apps/v1', 'daemonsets', 'DaemonSet', 'spec.template.spec', { spec: selected }],
  ['apps/v1', 'deployments', 'Deployment', 'spec.template.spec', { spec: selected }],
  ['apps/v1', 'replicasets', 'ReplicaSet', 'spec.template.spec', { spec: selected }],
  ['apps/v1', 'statefulsets', 'StatefulSet', 'spec.template.spec', { spec: { ...selected, serviceName: 's' } }],
  ['batch/v1', 'jobs', 'Job', 'spec.template.spec', jobTemplate],
  [
    'batch/v1',
    'cronjobs',
    'CronJob',
    'spec.jobTemplate.spec.template.spec',
    { spec: { schedule: '* * * * *', jobTemplate } },
  ],
];

describe('privileged containers', () => {
  const create = ({ client }: OrchServer, [apiVersion, resource, kind, , fields]: (typeof privileged)[0]) =>
    client.create(
      { apiVersion, resource, namespace: 'default' },
      { apiVersion, kind, metadata: { name: 'x' }, ...fields },
    );

  it.each(privileged)('of %s %s are rejected by default', async (...row) => {
    await expect(create(strict, row)).rejects.toMatchObject({
      code: 422,
      details: {
        causes: [
          {
            reason: 'FieldValueForbidden',
            field: `${row[3]}.containers[0].securityContext.privileged`,
            message: 'Forbidden: disallowed by cluster policy',
          },
        ],
      },
    });
  });

  it.each(privileged)('of %s %s are allowed with --allow-privileged', async (...row) => {
    await expect(create(lax, row)).resolves.toMatchObject({ metadata: { name: 'x' } });
  });

  it('are allowed where fake nodes take them', async () => {
    await expect(create(fake, privileged[0] as (typeof privileged)[0])).resolves.toMatchObject({
      metadata: { name: 'x' },
    });
  });
});
