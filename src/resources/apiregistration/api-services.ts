import {
  dns1035Label,
  dns1123Subdomain,
  type FieldError,
  fieldError,
  formatTime,
  pathSegmentName,
  portNumber,
} from '../../meta/index.ts';
import type { ObjectOf } from '../../schema/index.ts';
import { APIService, type APIServiceSpec } from '../../types/apiregistration-v1.ts';
import { age, name } from '../shared/columns.ts';
import { resource } from '../shared/define.ts';
import { byRule, eachOf, oneOf, validateNamed } from '../shared/field-rules.ts';
import { defaultPort } from '../shared/webhook-client.ts';

export const apiServices = resource({
  group: 'apiregistration.{domain}',
  plural: 'apiservices',
  kind: 'APIService',
  schema: APIService,
  lifecycle: { introduced: '1.10' },
  followed: true,
  categories: ['api-extensions'],
  namespaced: false,
  status: { resetFields: [['metadata'], ['spec']] },
  columns: [
    name,
    [
      'Service',
      ({ spec }) => (spec?.service === undefined ? 'Local' : `${spec.service.namespace}/${spec.service.name}`),
    ],
    [
      'Available',
      ({ status }) => {
        const condition = status?.conditions?.find(({ type }) => type === 'Available');
        if (condition === undefined) return 'Unknown';
        return condition.status === 'True' ? 'True' : `${condition.status} (${condition.reason})`;
      },
    ],
    age,
  ],
  strategy: {
    bareFinalizers: true,
    nameRule: pathSegmentName,
    unconditionalUpdate: false,
    defaults: ({ spec }) => defaultPort(spec?.service),
    prepareCreate: (service, { now }) => {
      service.status = service.spec?.service === undefined ? { conditions: [localCondition(now)] } : {};
    },
    validate: (service) => [
      ...validateName(service),
      ...validateSpec(service.spec ?? {}),
      ...eachOf(service.status?.conditions, 'status.conditions', ({ status = '' }, path) =>
        oneOf(`${path}.status`, status, ['True', 'False', 'Unknown']),
      ),
    ],
  },
});

/** The `Available` condition of groups that this server serves. */
const localCondition = (now: number) => ({
  type: 'Available',
  status: 'True',
  lastTransitionTime: formatTime(now),
  reason: 'Local',
  message: 'Local APIServices are always available',
});

function validateName({ metadata, spec }: ObjectOf<typeof APIService>): FieldError[] {
  const expectedName = `${spec?.version ?? ''}.${spec?.group ?? ''}`;
  const why = `must be \`spec.version+"."+spec.group\`: ${JSON.stringify(expectedName)}`;
  return pathSegmentName(metadata.name ?? '').length > 0 ? [] : validateNamed(metadata, expectedName, why);
}

function validateSpec(spec: APIServiceSpec): FieldError[] {
  const { group = '', version = '', groupPriorityMinimum: low = 0, versionPriority: priority = 0, service } = spec;
  const errors: FieldError[] = [];
  if (group === '' && version !== 'v1') {
    errors.push(fieldError.required('spec.group', 'only v1 may have an empty group and it better be legacy kube'));
  }
  if (group !== '') errors.push(...byRule('spec.group', group, dns1123Subdomain));
  errors.push(...byRule('spec.version', version, dns1035Label));
  if (low <= 0 || low > 20_000) {
    errors.push(fieldError.invalid('spec.groupPriorityMinimum', low, 'must be positive and less than 20000'));
  }
  if (priority <= 0 || priority > 1000) {
    errors.push(fieldError.invalid('spec.versionPriority', priority, 'must be positive and less than 1000'));
  }
  return [...errors, ...(service === undefined ? validateLocal(spec) : validateRemote(spec, service))];
}

function validateLocal({ caBundle = '', insecureSkipTLSVerify }: APIServiceSpec): FieldError[] {
  const errors: FieldError[] = [];
  if (caBundle !== '') {
    const text = `${Buffer.byteLength(caBundle, 'base64')} bytes`;
    errors.push(fieldError.invalid('spec.caBundle', text, 'local APIServices may not have a caBundle'));
  }
  if (insecureSkipTLSVerify !== true) return errors;
  const why = 'local APIServices may not have insecureSkipTLSVerify';
  return [...errors, fieldError.invalid('spec.insecureSkipTLSVerify', true, why)];
}

function validateRemote(
  { caBundle = '', insecureSkipTLSVerify }: APIServiceSpec,
  { namespace = '', name = '', port = 0 }: NonNullable<APIServiceSpec['service']>,
): FieldError[] {
  const path = 'spec.service';
  const errors: FieldError[] = [];
  if (namespace === '') errors.push(fieldError.required(`${path}.namespace`));
  if (name === '') errors.push(fieldError.required(`${path}.name`));
  const problems = portNumber(port);
  if (problems.length > 0) {
    errors.push(fieldError.invalid(`${path}.port`, port, `port is not valid: ${problems.join(', ')}`));
  }
  if (insecureSkipTLSVerify === true && caBundle !== '') {
    errors.push(fieldError.invalid('spec.insecureSkipTLSVerify', true, 'may not be true if caBundle is present'));
  }
  return errors;
}
