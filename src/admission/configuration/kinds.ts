/** The types of the file of `--admission-control-config-file`, and of the configurations of plugins. */
import { anyObject, bool, field, type Infer, int32, int64, list, map, string, struct } from '../../schema/index.ts';
import { ScopedResourceSelectorRequirement, Toleration } from '../../types/core-v1.ts';

const typeMeta = { apiVersion: field(1, string), kind: field(2, string) };

const AdmissionPluginConfiguration = struct('apiserver/v1.AdmissionPluginConfiguration', {
  name: field(1, string),
  path: field(2, string),
  configuration: field(3, anyObject, { nullable: true }),
});

export const AdmissionConfiguration = struct('apiserver/v1.AdmissionConfiguration', {
  ...typeMeta,
  plugins: field(3, list(AdmissionPluginConfiguration)),
});

const PodSecurityDefaults = struct('api/v1.PodSecurityDefaults', {
  enforce: field(1, string),
  'enforce-version': field(2, string),
  audit: field(3, string),
  'audit-version': field(4, string),
  warn: field(5, string),
  'warn-version': field(6, string),
});

const PodSecurityExemptions = struct('api/v1.PodSecurityExemptions', {
  usernames: field(1, list(string)),
  namespaces: field(2, list(string)),
  runtimeClasses: field(3, list(string)),
});

export const PodSecurityConfiguration = struct('api/v1.PodSecurityConfiguration', {
  ...typeMeta,
  defaults: field(3, PodSecurityDefaults),
  exemptions: field(4, PodSecurityExemptions),
});
export type PodSecurityConfiguration = Infer<typeof PodSecurityConfiguration>;

const LimitedResource = struct('resourcequota/v1.LimitedResource', {
  apiGroup: field(1, string),
  resource: field(2, string),
  matchContains: field(3, list(string)),
  matchScopes: field(4, list(ScopedResourceSelectorRequirement)),
});
export type LimitedResource = Infer<typeof LimitedResource>;

export const ResourceQuotaConfiguration = struct('resourcequota/v1.Configuration', {
  ...typeMeta,
  limitedResources: field(3, list(LimitedResource)),
});
export type ResourceQuotaConfiguration = Infer<typeof ResourceQuotaConfiguration>;

export const PodTolerationConfiguration = struct('podtolerationrestriction/v1alpha1.Configuration', {
  ...typeMeta,
  default: field(3, list(Toleration)),
  whitelist: field(4, list(Toleration)),
});
export type PodTolerationConfiguration = Infer<typeof PodTolerationConfiguration>;

export const EventLimit = struct('eventratelimit/v1alpha1.Limit', {
  type: field(1, string),
  qps: field(2, int32),
  burst: field(3, int32),
  cacheSize: field(4, int32),
});
export type EventLimit = Infer<typeof EventLimit>;

export const EventRateLimitConfiguration = struct('eventratelimit/v1alpha1.Configuration', {
  ...typeMeta,
  limits: field(3, list(EventLimit)),
});
export type EventRateLimitConfiguration = Infer<typeof EventRateLimitConfiguration>;

export const WebhookAdmission = struct('webhookadmission/v1.WebhookAdmission', {
  ...typeMeta,
  kubeConfigFile: field(3, string),
});

const ImagePolicy = struct('imagepolicy.ImagePolicy', {
  kubeConfigFile: field(1, string),
  allowTTL: field(2, int64),
  denyTTL: field(3, int64),
  retryBackoff: field(4, int64),
  defaultAllow: field(5, bool),
});
export type ImagePolicy = Infer<typeof ImagePolicy>;

/** The configurations without a version. One file may hold both. */
export const UnversionedConfiguration = struct('admission.UnversionedConfiguration', {
  imagePolicy: field(1, ImagePolicy, { nullable: true }),
  podNodeSelectorPluginConfig: field(2, map(string)),
});
export type UnversionedConfiguration = Infer<typeof UnversionedConfiguration>;
