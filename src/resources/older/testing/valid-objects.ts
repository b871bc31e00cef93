/** Makes random objects valid as far as conversions need it, by the plural name of their kind. */
import { type ApiObject, at, isJsonObject, type JsonObject } from '../../../meta/index.ts';

/** Sets what validation requires of stored objects, and what an older version would set by default. */
export const complete: { readonly [plural: string]: (object: ApiObject) => void } = {
  certificatesigningrequests: completeSigningRequest,
  customresourcedefinitions: completeDefinition,
  daemonsets: completeWorkload,
  deployments: completeWorkload,
  replicasets: completeWorkload,
  statefulsets: completeWorkload,
  mutatingwebhookconfigurations: completeWebhooks,
  validatingwebhookconfigurations: completeWebhooks,
};

function completeWebhooks({ webhooks = [] }: ApiObject): void {
  for (const webhook of webhooks as JsonObject[]) {
    webhook['sideEffects'] ??= 'None';
    webhook['admissionReviewVersions'] = ['v1'];
  }
}

function completeWorkload(object: ApiObject): void {
  object.metadata = { ...object.metadata, labels: { a: 'b' } };
  const { spec } = object;
  if (!isJsonObject(spec)) return;
  spec['selector'] ??= {};
  const rollingUpdate = at(spec, 'strategy', 'rollingUpdate');
  if (isJsonObject(rollingUpdate)) Object.assign(rollingUpdate, { maxSurge: 2, maxUnavailable: 2 });
}

function completeDefinition({ spec }: ApiObject): void {
  if (!isJsonObject(spec)) return;
  spec['scope'] ||= 'Cluster';
  const conversion = spec['conversion'];
  if (isJsonObject(conversion) && conversion['strategy'] === 'Webhook') {
    conversion['webhook'] = { conversionReviewVersions: ['v1'] };
  }
}

/** Makes a random object one that the check of its version accepts. */
export const accept: { readonly [plural: string]: (object: ApiObject) => void } = {
  deployments: ({ spec }) => {
    const rollbackTo = isJsonObject(spec) ? spec['rollbackTo'] : undefined;
    if (isJsonObject(rollbackTo) && Number(rollbackTo['revision'] ?? 0) < 0) delete rollbackTo['revision'];
  },
  customresourcedefinitions: ({ spec }) => {
    if (!isJsonObject(spec)) return;
    const versions = (spec['versions'] ?? []) as JsonObject[];
    if (versions.length > 0) delete spec['version'];
    for (const version of versions)
      for (const field of ['schema', 'subresources', 'additionalPrinterColumns']) delete version[field];
  },
};

function completeSigningRequest({ spec, status }: ApiObject): void {
  if (isJsonObject(spec)) spec['usages'] ??= ['any'];
  const conditions = isJsonObject(status) ? status['conditions'] : [];
  for (const condition of (conditions ?? []) as JsonObject[]) condition['status'] ||= 'True';
}
