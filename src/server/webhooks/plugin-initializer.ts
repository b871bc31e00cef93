import type { PluginInitializer } from '../../admission/index.ts';
import { type Authorizer, selectorAttributes } from '../../auth/index.ts';
import type { Metrics } from '../../http/index.ts';
import { type Clock, type Features, type Names, once, type Random, StatusError } from '../../meta/index.ts';
import { requestedSubject } from '../../pki/index.ts';
import type { Registry } from '../../registry/index.ts';
import type { ObjectOf } from '../../schema/index.ts';
import { Namespace, ResourceQuota } from '../../types/core-v1.ts';
import type { ResourceList } from '../../types/resource-list.ts';
import type { Log } from '../dependencies.ts';
import type { AdmissionFiles } from '../settings/admission-configuration.ts';
import type { ServerSettings } from '../settings/flags.ts';
import type { RegisteredWebhooks } from './registered-webhooks.ts';
import { webhookFailures } from './webhook-failures.ts';
import { retriedCall } from './webhook-retries.ts';

/** How many reviews are sent to a webhook at a time: more than there are writes under way, by default. */
const maxReviews = 256;

type Quota = ObjectOf<typeof ResourceQuota>;

interface InitializerOptions extends AdmissionFiles {
  readonly names: Names;
  readonly random: Random;
  readonly clock: Clock;
  readonly log: Log;
  readonly features: Features;
  readonly authorize: Authorizer;
  readonly webhooks: RegisteredWebhooks;
  readonly metrics: Pick<Metrics, 'webhooks' | 'policyChecked' | 'mutationChecked'>;
  readonly findKind: PluginInitializer['findKind'];
  readonly settings: Pick<ServerSettings, 'defaultNotReadyTolerationSeconds' | 'defaultUnreachableTolerationSeconds'>;
  /** Called no earlier than in a write: plugins are made before the registry. */
  readonly registry: () => Registry;
}

/** What admission plugins are given: the server's objects, its authorizer and its settings. */
export function pluginInitializer({
  names,
  random,
  clock,
  log,
  features,
  authorize,
  configurations,
  credentials,
  imagePolicy,
  webhooks,
  metrics,
  settings,
  registry,
  findKind,
}: InitializerOptions): PluginInitializer {
  return {
    names,
    random,
    clock,
    policyChecked: metrics.policyChecked,
    mutationChecked: metrics.mutationChecked,
    features,
    configurations,
    webhook: (registered, plugin) => webhooks.postTo(registered, maxReviews, credentials[plugin]),
    webhookObserver: metrics.webhooks,
    webhookFailed: webhookFailures(log, clock),
    reviewImages:
      imagePolicy === undefined
        ? () => Promise.reject(new Error('the image policy webhook is not configured'))
        : retriedCall({ ...imagePolicy, call: webhooks.open(imagePolicy.webhook, maxReviews), clock, random }),
    objects: {
      get: (resource, namespace, name) => registry().objects.get(resource, namespace, name),
      getAs: (as, namespace, name) => registry().objects.getAs(as, namespace, name),
      selectAs: (as, namespace, selector) => registry().objects.selectAs(as, namespace, selector),
      list: (resource, namespace, latest) => registry().objects.list(resource, namespace, latest),
      cached: (resource, namespace) => registry().objects.cached(resource, namespace),
      derived: (resource, compute) => {
        const read = once(() => registry().objects.derived(resource, compute));
        return () => read()();
      },
    },
    namespace: (name, latest) => registry().objects.namespace(name, latest),
    authorize: (user, { verb, ...resource }) => authorize({ user, verb, resource, path: '' }),
    authorizeAccess: ({ selectors, ...attributes }) => {
      const withSelectors = registry().features.AuthorizeWithSelectors;
      return authorize({ ...attributes, ...(withSelectors ? selectorAttributes(selectors) : {}) });
    },
    findKind,
    tolerationSeconds: {
      notReady: settings.defaultNotReadyTolerationSeconds,
      unreachable: settings.defaultUnreachableTolerationSeconds,
    },
    createNamespace: (name) => createNamespace(registry(), name),
    updateQuotaStatus: (quota, used) => writeUsed(registry(), quota, used),
    requestedSubject,
  };
}

/** Creates a namespace. @throws StatusError 409 when it exists */
async function createNamespace({ objects }: Registry, name: string): Promise<void> {
  await objects.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
}

/** Updates `status.used`; undefined when the quota was deleted, or its resourceVersion is no longer the given one. */
async function writeUsed({ objects }: Registry, quota: Quota, used: ResourceList): Promise<Quota | undefined> {
  try {
    return await objects.update(ResourceQuota, { ...quota, status: { ...quota.status, used } }, 'status');
  } catch (error) {
    if (error instanceof StatusError && (error.code === 409 || error.code === 404)) return undefined;
    throw error;
  }
}
