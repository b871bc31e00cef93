/** Generators of deployments, jobs and cron jobs. */
import { isJsonObject, type Json, type JsonObject } from '../../../meta/index.ts';
import { objectPath } from '../../cluster/resource.ts';
import type { Command } from '../../command.ts';
import { CommandError } from '../../errors.ts';
import { integer, list, text } from '../../flags/flag.ts';
import { targetsOf } from '../../objects/targets.ts';
import { generator, objectOf } from './generator.ts';

/** The name of a container of an image: the last part of the image, without tag and digest. */
function containerName(image: string): string {
  const last = image.slice(image.lastIndexOf('/') + 1).replace(/@.*$/, '');
  return last
    .replace(/:.*$/, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]/g, '-');
}

const command = (words: readonly string[]): JsonObject => (words.length === 0 ? {} : { command: [...words] });

const deployment = generator({
  name: 'deployment',
  aliases: ['deploy'],
  summary: 'Create a deployment with the specified name',
  usage: 'NAME --image=image -- [COMMAND] [args...]',
  example: 'deployment my-dep --image=nginx --replicas=3 --port=5701',
  flags: {
    image: list('Image names to run. A deployment can have multiple images set for multiple containers.'),
    port: integer(-1, 'The containerPort that this deployment exposes.'),
    replicas: integer(1, 'Number of replicas to create.', { short: 'r' }),
  },
  required: ['image'],
  takesCommand: true,
  build: ({ name, rest, flags }) => {
    const { image, port, replicas } = flags;
    if (image.length > 1 && rest.length > 0) {
      throw new CommandError('cannot specify multiple --image options and command');
    }
    const ports = port >= 0 ? { ports: [{ containerPort: port }] } : {};
    const containers: Json[] = image.map((each, i) => ({
      ...command(rest),
      image: each,
      name: containerName(each),
      ...(i === 0 ? ports : {}),
      resources: {},
    }));
    const labels = { app: name };
    const template = { metadata: { creationTimestamp: null, labels }, spec: { containers } };
    return {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { creationTimestamp: null, labels, name },
      spec: { replicas, selector: { matchLabels: labels }, strategy: {}, template },
      status: {},
    };
  },
});

const container = (name: string, image: string, words: readonly string[]): Json[] => [
  { ...command(words), image, name, resources: {} },
];

const job = generator({
  name: 'job',
  summary: 'Create a job with the specified name',
  usage: 'NAME --image=image [--from=cronjob/name] -- [COMMAND] [args...]',
  example: 'job my-job --image=busybox -- date',
  flags: {
    from: text('', 'The name of the resource to create a Job from (only cronjob is supported).'),
    image: text('', 'Image name to run.'),
  },
  takesCommand: true,
  build: async ({ name, rest, flags, context, names }) => {
    if ((flags.image === '') === (flags.from === ''))
      throw new CommandError('either --image or --from must be specified');
    if (flags.image !== '') {
      const spec = { containers: container(name, flags.image, rest), restartPolicy: 'Never' };
      const template = { metadata: { creationTimestamp: null }, spec };
      return objectOf('batch/v1', 'Job', name, { spec: { template }, status: {} });
    }
    const cluster = await context.cluster();
    const [target] = await targetsOf(cluster, [flags.from]);
    if (target?.name === undefined || target.resource.kind !== 'CronJob') {
      throw new CommandError('from must be an existing cronjob');
    }
    const cronJob = await cluster.send({ url: objectPath(target.resource, target.namespace, target.name) });
    return jobOf(cronJob, name, (await names()).labels);
  },
});

/** A job as its cron job would create it, which it is controlled by. */
function jobOf(cronJob: JsonObject, name: string, labelPrefix: string): JsonObject {
  const { metadata, spec } = cronJob as { metadata: JsonObject; spec: { jobTemplate: JsonObject } };
  const { jobTemplate } = spec;
  const { annotations = {}, labels } = isJsonObject(jobTemplate['metadata']) ? jobTemplate['metadata'] : {};
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      annotations: {
        [`cronjob.${labelPrefix}/instantiate`]: 'manual',
        ...(isJsonObject(annotations) ? annotations : {}),
      },
      creationTimestamp: null,
      ...(labels === undefined ? {} : { labels }),
      name,
      ownerReferences: [
        {
          apiVersion: 'batch/v1',
          controller: true,
          kind: 'CronJob',
          name: metadata['name'] ?? '',
          uid: metadata['uid'] ?? '',
        },
      ],
    },
    spec: withEmptyTime(jobTemplate['spec'] ?? {}),
    status: {},
  };
}

/** The reference client prints the creation time of pod templates. */
function withEmptyTime(spec: Json): Json {
  const template = isJsonObject(spec) ? spec['template'] : undefined;
  if (!isJsonObject(spec) || !isJsonObject(template)) return spec;
  const metadata = isJsonObject(template['metadata']) ? template['metadata'] : {};
  return { ...spec, template: { ...template, metadata: { ...metadata, creationTimestamp: null } } };
}

const cronJob = generator({
  name: 'cronjob',
  aliases: ['cj'],
  summary: 'Create a cron job with the specified name',
  usage: "NAME --image=image --schedule='0/5 * * * ?' -- [COMMAND] [args...]",
  example: 'cronjob my-job --image=busybox --schedule="*/1 * * * *" -- date',
  flags: {
    image: text('', 'Image name to run.'),
    restart: text('OnFailure', "Job's restart policy. Supported values: OnFailure, Never."),
    schedule: text('', 'A schedule in the Cron format the job should be run with.'),
  },
  required: ['image', 'schedule'],
  takesCommand: true,
  build: ({ name, rest, flags }) => {
    const spec = { containers: container(name, flags.image, rest), restartPolicy: flags.restart };
    const template = { metadata: { creationTimestamp: null }, spec };
    const jobTemplate = { metadata: { creationTimestamp: null, name }, spec: { template } };
    return objectOf('batch/v1', 'CronJob', name, { spec: { jobTemplate, schedule: flags.schedule }, status: {} });
  },
});

export const workloadGenerators: readonly Command[] = [deployment, job, cronJob];
