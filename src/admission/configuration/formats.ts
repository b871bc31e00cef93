import { dns1123Label, dns1123Subdomain, type FieldError, fieldError, type NameRule } from '../../meta/index.ts';
import { validateToleration } from '../../rules/index.ts';
import { type ConfigurationFormat, type Infer, type StructSchema, versionedKinds } from '../../schema/index.ts';
import { levels, minorOf } from '../plugins/pod-security-policy.ts';
import {
  AdmissionConfiguration,
  type EventLimit,
  EventRateLimitConfiguration,
  PodSecurityConfiguration,
  PodTolerationConfiguration,
  ResourceQuotaConfiguration,
  UnversionedConfiguration,
  WebhookAdmission,
} from './kinds.ts';
import { parseSelector } from './selector.ts';

/** The format of the configuration of a plugin. */
export interface PluginFormat<T = unknown> extends ConfigurationFormat<T> {
  /** Whether the plugin does not work without a configuration. */
  readonly required?: boolean;
}

const formatOf = <S extends StructSchema>(
  made: PluginFormat<Infer<S>> & { readonly schema: S },
): PluginFormat<Infer<S>> => made;

const admissionKinds = [
  ...versionedKinds('apiserver.config', 'AdmissionConfiguration', 'v1', 'v1beta1', 'v1alpha1'),
  ...versionedKinds('apiserver', 'AdmissionConfiguration', 'v1alpha1'),
];

/** The format of the file of `--admission-control-config-file` itself. */
export const admissionConfigurationFormat = formatOf({ kinds: admissionKinds, schema: AdmissionConfiguration });

const webhooks = formatOf({
  kinds: [
    ...versionedKinds('apiserver.config', 'WebhookAdmissionConfiguration', 'v1'),
    ...versionedKinds('apiserver.config', 'WebhookAdmission', 'v1alpha1'),
  ],
  schema: WebhookAdmission,
  check: ({ kubeConfigFile: file = '' }) =>
    file.startsWith('/') ? [] : [fieldError.invalid('kubeConfigFile', file, 'must be an absolute file path')],
});

/** The formats of the configurations of plugins, by the names of the plugins. Others have no configuration. */
export const configurationFormats = {
  EventRateLimit: formatOf({
    kinds: versionedKinds('eventratelimit.admission', 'Configuration', 'v1alpha1'),
    schema: EventRateLimitConfiguration,
    required: true,
    check: ({ limits = [] }) =>
      limits.length === 0 ? [fieldError.invalid('limits', limits, 'must not be empty')] : limits.flatMap(checkLimit),
  }),
  ImagePolicyWebhook: formatOf({
    kinds: [],
    schema: UnversionedConfiguration,
    required: true,
    check: ({ imagePolicy = {} }) => [
      ...(imagePolicy.kubeConfigFile ? [] : [fieldError.required('imagePolicy.kubeConfigFile')]),
      ...Object.entries(imagePolicyBounds).flatMap(([name, max]) => {
        const value = imagePolicy[name as keyof typeof imagePolicyBounds] ?? 0;
        if (value >= -1 && value <= max) return [];
        return [fieldError.invalid(`imagePolicy.${name}`, value, `must be from 1 to ${max}, 0 for the default, or -1`)];
      }),
    ],
  }),
  MutatingAdmissionWebhook: webhooks,
  PodNodeSelector: formatOf({
    kinds: [],
    schema: UnversionedConfiguration,
    check: ({ podNodeSelectorPluginConfig = {} }) =>
      Object.entries(podNodeSelectorPluginConfig).flatMap(([name, selector]) =>
        parseSelector(selector) === undefined
          ? [fieldError.invalid(`podNodeSelectorPluginConfig.${name}`, selector, 'must be labels such as a=1,b=2')]
          : [],
      ),
  }),
  PodSecurity: formatOf({
    kinds: versionedKinds('pod-security.admission.config', 'PodSecurityConfiguration', 'v1', 'v1beta1', 'v1alpha1'),
    schema: PodSecurityConfiguration,
    check: checkPodSecurity,
  }),
  PodTolerationRestriction: formatOf({
    kinds: versionedKinds('podtolerationrestriction.admission', 'Configuration', 'v1alpha1'),
    schema: PodTolerationConfiguration,
    check: (configuration) =>
      (['default', 'whitelist'] as const).flatMap((list) =>
        (configuration[list] ?? []).flatMap((one, i) => validateToleration(one, `${list}[${i}]`)),
      ),
  }),
  ResourceQuota: formatOf({
    kinds: [
      ...versionedKinds('apiserver.config', 'ResourceQuotaConfiguration', 'v1'),
      ...versionedKinds('resourcequota.admission', 'Configuration', 'v1beta1', 'v1alpha1'),
    ],
    schema: ResourceQuotaConfiguration,
    check: ({ limitedResources = [] }) =>
      limitedResources.flatMap(({ resource = '' }, i) =>
        resource === '' ? [fieldError.required(`limitedResources[${i}].resource`)] : [],
      ),
  }),
  ValidatingAdmissionWebhook: webhooks,
};

type ConfigurationOf<F> = F extends PluginFormat<infer T> ? T : never;

/** The configurations of plugins, by the names of the plugins. */
export type PluginConfigurations = {
  readonly [P in keyof typeof configurationFormats]?: ConfigurationOf<(typeof configurationFormats)[P]>;
};

/** The largest values: seconds, and milliseconds for the backoff. */
const imagePolicyBounds = { allowTTL: 1_800, denyTTL: 1_800, retryBackoff: 300_000 };

const limitTypes: readonly string[] = ['Server', 'Namespace', 'User', 'SourceAndObject'];
/** The largest cache: a bucket takes about 200 bytes. */
const maxCacheSize = 1_000_000;

function checkLimit({ type = '', qps = 0, burst = 0, cacheSize = 0 }: EventLimit, i: number): FieldError[] {
  const at = `limits[${i}]`;
  const cached = type !== 'Server';
  return [
    ...(limitTypes.includes(type) ? [] : [fieldError.notSupported(`${at}.type`, type, limitTypes)]),
    ...(burst > 0 ? [] : [fieldError.invalid(`${at}.burst`, burst, 'must be positive')]),
    ...(qps > 0 ? [] : [fieldError.invalid(`${at}.qps`, qps, 'must be positive')]),
    ...(cached && cacheSize < 0 ? [fieldError.invalid(`${at}.cacheSize`, cacheSize, 'must not be negative')] : []),
    ...(cached && cacheSize > maxCacheSize
      ? [fieldError.invalid(`${at}.cacheSize`, cacheSize, `must be at most ${maxCacheSize}`)]
      : []),
  ];
}

function checkPodSecurity({ defaults = {}, exemptions = {} }: PodSecurityConfiguration): FieldError[] {
  const modes = ['enforce', 'warn', 'audit'] as const;
  return [
    ...modes.flatMap((mode) => {
      const { [mode]: level, [`${mode}-version` as const]: version } = defaults;
      const rule = `must be one of ${levels.join(', ')}`;
      return [
        ...(level && !levels.some((one) => one === level) ? [fieldError.invalid(`defaults.${mode}`, level, rule)] : []),
        ...(version && minorOf(version) === undefined
          ? [fieldError.invalid(`defaults.${mode}-version`, version, 'must be "latest" or "v1.x"')]
          : []),
      ];
    }),
    ...checkNames('exemptions.namespaces', exemptions.namespaces, dns1123Label),
    ...checkNames('exemptions.runtimeClasses', exemptions.runtimeClasses, dns1123Subdomain),
    ...checkNames('exemptions.usernames', exemptions.usernames, (name) =>
      name === '' ? ['username must not be empty'] : [],
    ),
  ];
}

const checkNames = (path: string, names: readonly string[] = [], rule: NameRule): FieldError[] =>
  names.flatMap((name, i) => {
    const faults = rule(name);
    if (faults.length > 0) return [fieldError.invalid(`${path}[${i}]`, name, faults.join(', '))];
    return names.indexOf(name) < i ? [fieldError.duplicate(`${path}[${i}]`, name)] : [];
  });
