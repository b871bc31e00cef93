import {
  dns1123Label,
  dns1123Subdomain,
  type FieldError,
  fieldError,
  type Json,
  type NameRule,
  type Names,
  StatusError,
  unknownField,
} from '../../meta/index.ts';
import { compile, type Infer, type StructSchema, validate } from '../../schema/index.ts';
import { validateToleration } from '../../types/tolerations.ts';
import { levels, minorOf } from '../pod-security-policy.ts';
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

/** The kind of a configuration in one version. */
interface VersionedKind {
  /** `{domain}` stands for the API domain. */
  readonly apiVersion: string;
  readonly kind: string;
}

/** What a configuration of type `T` looks like. */
export interface ConfigurationFormat<T = unknown> {
  /** The present version first. Empty: it has neither `apiVersion` nor `kind`. */
  readonly kinds: readonly VersionedKind[];
  readonly schema: StructSchema;
  /** Whether the plugin does not work without a configuration. */
  readonly required?: boolean;
  /** The errors of a decoded configuration that its schema does not find. */
  check?(configuration: T): FieldError[];
}

const formatOf = <S extends StructSchema>(
  made: ConfigurationFormat<Infer<S>> & { readonly schema: S },
): ConfigurationFormat<Infer<S>> => made;

const versions = (group: string, kind: string, ...given: readonly string[]): VersionedKind[] =>
  given.map((version) => ({ apiVersion: `${group}.{domain}/${version}`, kind }));

const admissionKinds = [
  ...versions('apiserver.config', 'AdmissionConfiguration', 'v1', 'v1beta1', 'v1alpha1'),
  ...versions('apiserver', 'AdmissionConfiguration', 'v1alpha1'),
];

/** The format of the file of `--admission-control-config-file` itself. */
export const admissionConfigurationFormat = formatOf({ kinds: admissionKinds, schema: AdmissionConfiguration });

const webhooks = formatOf({
  kinds: [
    ...versions('apiserver.config', 'WebhookAdmissionConfiguration', 'v1'),
    ...versions('apiserver.config', 'WebhookAdmission', 'v1alpha1'),
  ],
  schema: WebhookAdmission,
  check: ({ kubeConfigFile: file = '' }) =>
    file.startsWith('/') ? [] : [fieldError.invalid('kubeConfigFile', file, 'must be an absolute file path')],
});

/** The formats of the configurations of plugins, by the names of the plugins. Others have no configuration. */
export const configurationFormats = {
  EventRateLimit: formatOf({
    kinds: versions('eventratelimit.admission', 'Configuration', 'v1alpha1'),
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
    kinds: versions('pod-security.admission.config', 'PodSecurityConfiguration', 'v1', 'v1beta1', 'v1alpha1'),
    schema: PodSecurityConfiguration,
    check: checkPodSecurity,
  }),
  PodTolerationRestriction: formatOf({
    kinds: versions('podtolerationrestriction.admission', 'Configuration', 'v1alpha1'),
    schema: PodTolerationConfiguration,
    check: (configuration) =>
      (['default', 'whitelist'] as const).flatMap((list) =>
        (configuration[list] ?? []).flatMap((one, i) => validateToleration(one, `${list}[${i}]`)),
      ),
  }),
  ResourceQuota: formatOf({
    kinds: [
      ...versions('apiserver.config', 'ResourceQuotaConfiguration', 'v1'),
      ...versions('resourcequota.admission', 'Configuration', 'v1beta1', 'v1alpha1'),
    ],
    schema: ResourceQuotaConfiguration,
    check: ({ limitedResources = [] }) =>
      limitedResources.flatMap(({ resource = '' }, i) =>
        resource === '' ? [fieldError.required(`limitedResources[${i}].resource`)] : [],
      ),
  }),
  ValidatingAdmissionWebhook: webhooks,
};

type ConfigurationOf<F> = F extends ConfigurationFormat<infer T> ? T : never;

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

/** Decodes and validates a configuration. Each problem names a field. */
export function decodeConfiguration<T>(
  format: ConfigurationFormat<T>,
  value: Json,
  names: Names,
): { readonly value: T } | { readonly problems: readonly string[] } {
  const type = compile(format.schema, names);
  try {
    const { value: decoded, unknown } = type.decode(value);
    const misshapen = [
      ...kindProblems(format.kinds, decoded, names),
      ...unknown.map(unknownField),
      ...validate(decoded, type).map(formatError),
    ];
    if (misshapen.length > 0) return { problems: misshapen };
    const invalid = format.check?.(decoded as T) ?? [];
    return invalid.length > 0 ? { problems: invalid.map(formatError) } : { value: decoded as T };
  } catch (error) {
    if (error instanceof StatusError) return { problems: [error.message] };
    throw error;
  }
}

const formatError = ({ field, message }: FieldError): string => `${field}: ${message}`;

function kindProblems(
  kinds: readonly VersionedKind[],
  { apiVersion = '', kind = '' }: { readonly [field: string]: Json | undefined },
  { domain }: Names,
): string[] {
  if (kinds.length === 0) return [];
  const known = kinds.map((one) => ({ ...one, apiVersion: one.apiVersion.replace('{domain}', domain) }));
  if (known.some((one) => one.apiVersion === apiVersion && one.kind === kind)) return [];
  const wanted = known.map((one) => `${one.kind} of ${one.apiVersion}`).join(', ');
  return [`apiVersion and kind: ${JSON.stringify(kind)} of ${JSON.stringify(apiVersion)} must be one of ${wanted}`];
}
