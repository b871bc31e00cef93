import type { PluginInitializer } from '../../admission/index.ts';
import { type Authorizer, selectorAttributes } from '../../auth/index.ts';
import type { Metrics } from '../../http/index.ts';
import { type Clock, type Features, type Names, type Random, StatusError } from '../../meta/index.ts';
import { requestedSubject } from '../../pki/index.ts';
import type { Registry } from '../../registry/index.ts';
import type { ResourceList } from '../../rules/index.ts';
import type { ObjectOf } from '../../schema/index.ts';
import { Namespace, ResourceQuota } from '../../types/core-v1.ts';
import type { Backend } from '../backend.ts';
import type { Log } from '../dependencies.ts';
import type { AdmissionFiles } from '../settings/admission-configuration.ts';
import type { ServerSettings } from '../settings/flags.ts';
import type { RegisteredWebhooks } from './registered-webhooks.ts';
import { webhookFailures } from './throttled-warnings.ts';
import { withRetries } from './webhook-retries.ts';

/** Maximum number of concurrent reviews of a webhook: more than the default limit of concurrent writes. */
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
  readonly backend: Pick<Backend, 'registry'>;
}

/** The dependencies of admission plugins apart from the objects that they read: the server's authorizer, settings and webhooks. */
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
  backend,
  findKind,
}: InitializerOptions): Omit<PluginInitializer, 'objects' | 'namespace'> {
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
        : withRetries({ ...imagePolicy, call: webhooks.open(imagePolicy.webhook, maxReviews), clock, random }),
    authorize: (user, { verb, ...resource }) => authorize({ user, verb, resource, path: '' }),
    authorizeAccess: ({ selectors, ...attributes }) => {
      const withSelectors = features.AuthorizeWithSelectors;
      return authorize({ ...attributes, ...(withSelectors ? selectorAttributes(selectors) : {}) });
    },
    findKind,
    tolerationSeconds: {
      notReady: settings.defaultNotReadyTolerationSeconds,
      unreachable: settings.defaultUnreachableTolerationSeconds,
    },
    createNamespace: (name) => createNamespace(backend.registry, name),
    updateQuotaStatus: (quota, used) => writeUsed(backend.registry, quota, used),
    requestedSubject,
  };
}

/** Creates a namespace. @throws StatusError 409 when it exists */
async function createNamespace({ objects }: Registry, name: string): Promise<void> {
  await objects.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
}

/** Updates `status.used`; resolves with undefined when the quota was deleted or changed. */
async function writeUsed({ objects }: Registry, quota: Quota, used: ResourceList): Promise<Quota | undefined> {
  try {
    return await objects.update(ResourceQuota, { ...quota, status: { ...quota.status, used } }, 'status');
  } catch (error) {
    if (error instanceof StatusError && (error.code === 409 || error.code === 404)) return undefined;
    throw error;
  }
}
