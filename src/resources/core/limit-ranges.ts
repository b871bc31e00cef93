import {
  errorsOfEach,
  type FieldError,
  fieldError,
  type Names,
  parseQuantity,
  qualifiedName,
} from '../../meta/index.ts';
import { compareQuantityTexts, isOvercommittable, type ResourceList } from '../../rules/index.ts';
import { LimitRange, type LimitRangeItem } from '../../types/core-v1.ts';
import { roundQuantities, withMissing } from '../pod-template/resource-list.ts';
import { resource } from '../shared/define.ts';
import { byRule, eachOf, unique } from '../shared/field-rules.ts';
import { validateContainerResourceName, validateResourceName } from '../shared/resource-names.ts';

export const limitRanges = resource({
  group: '',
  plural: 'limitranges',
  kind: 'LimitRange',
  schema: LimitRange,
  lifecycle: { introduced: '1.0' },
  shortNames: ['limits'],
  strategy: {
    metadataChecks: [1, 0],
    createOnUpdate: true,
    defaults: ({ spec }) => {
      for (const item of spec?.limits ?? []) completeDefaults(item);
    },
    prepareCreate: ({ metadata }) => {
      metadata.name ||= metadata.uid ?? '';
    },
    validate: ({ spec }, { names }) => [
      ...unique(spec?.limits, 'spec.limits', ({ type = '' }) => type, '.type'),
      ...eachOf(spec?.limits ?? [], 'spec.limits', (item, path) => validateItem(item, path, names)),
    ],
  },
});

/** Defaults `default` and `defaultRequest` of containers from `max`, `default` and `min`. */
function completeDefaults(item: LimitRangeItem): void {
  for (const amounts of [item.max, item.min, item.default, item.defaultRequest, item.maxLimitRequestRatio]) {
    roundQuantities(amounts);
  }
  if (item.type !== 'Container') return;
  const complete = (field: 'default' | 'defaultRequest', ...from: (ResourceList | undefined)[]) => {
    const amounts = from.reduce<ResourceList>((all, more) => withMissing(all, more), item[field] ?? {});
    if (Object.keys(amounts).length > 0) item[field] = amounts;
  };
  complete('default', item.max);
  complete('defaultRequest', item.default, item.min);
}

const types = ['Pod', 'Container', 'PersistentVolumeClaim'];

function validateItem(item: LimitRangeItem, path: string, names: Names): FieldError[] {
  const { type = '', min = {}, max = {}, default: limit = {}, defaultRequest = {}, maxLimitRequestRatio = {} } = item;
  const errors = byRule(`${path}.type`, type, qualifiedName);
  if (errors.length === 0 && !type.includes('/') && !types.includes(type)) {
    errors.push(fieldError.invalid(`${path}.type`, type, 'must be a standard limit type or fully qualified'));
  }
  const isPod = type === 'Pod';
  for (const [field, amounts] of Object.entries({ default: limit, defaultRequest })) {
    if (!isPod || Object.keys(amounts).length === 0) continue;
    errors.push(fieldError.forbidden(`${path}.${field}`, "may not be specified when `type` is 'Pod'"));
  }
  if (type === 'PersistentVolumeClaim' && min['storage'] === undefined && max['storage'] === undefined) {
    const why = 'either minimum or maximum storage value is required, but neither was provided';
    errors.push(fieldError.required(`${path}.limits`, why));
  }
  const namedAmounts = { max, min, ...(isPod ? {} : { default: limit, defaultRequest }), maxLimitRequestRatio };
  const resources = new Set<string>();
  for (const [field, amounts] of Object.entries(namedAmounts)) {
    const ofContainers = isPod || type === 'Container';
    const ownErrors = errorsOfEach(Object.keys(amounts), (name) => {
      const at = `${path}.${field}[${name}]`;
      return ofContainers ? validateContainerResourceName(name, at, names) : validateResourceName(name, at);
    });
    errors.push(...ownErrors);
    for (const name in amounts) resources.add(name);
  }
  return [...errors, ...errorsOfEach([...resources], (name) => validateResource(item, name, path, names))];
}

const own = (amounts: ResourceList | undefined, name: string): string | undefined =>
  amounts !== undefined && Object.hasOwn(amounts, name) ? amounts[name] : undefined;

const isMore = (a: string | undefined, b: string | undefined): boolean =>
  a !== undefined && b !== undefined && compareQuantityTexts(a, b) > 0;

/** Validates the order of min, default request, default and max of one resource. */
function validateResource(item: LimitRangeItem, name: string, path: string, names: Names): FieldError[] {
  const isPod = item.type === 'Pod';
  const [min, max] = [own(item.min, name), own(item.max, name)];
  const limit = isPod ? undefined : own(item.default, name);
  const request = isPod ? undefined : own(item.defaultRequest, name);
  const errors: FieldError[] = [];
  const refuse = (field: string, value: string | undefined, why: string) =>
    errors.push(fieldError.invalid(`${path}.${field}[${name}]`, value, why));
  if (isMore(min, max)) refuse('min', min, `min value ${min} is greater than max value ${max}`);
  if (isMore(min, request)) {
    refuse('defaultRequest', request, `min value ${min} is greater than default request value ${request}`);
  }
  if (isMore(request, max)) {
    refuse('defaultRequest', request, `default request value ${request} is greater than max value ${max}`);
  }
  if (isMore(request, limit)) {
    refuse('defaultRequest', request, `default request value ${request} is greater than default limit value ${limit}`);
  }
  if (isMore(min, limit)) refuse('default', min, `min value ${min} is greater than default value ${limit}`);
  if (isMore(limit, max)) refuse('default', max, `default value ${limit} is greater than max value ${max}`);
  if (limit !== undefined && request !== undefined && !isOvercommittable(name, names)) {
    if (compareQuantityTexts(limit, request) !== 0) {
      refuse(
        'defaultRequest',
        request,
        `default value ${limit} must equal to defaultRequest value ${request} in ${name}`,
      );
    }
  }
  return [
    ...errors,
    ...validateRatio(own(item.maxLimitRequestRatio, name), min, max, `${path}.maxLimitRequestRatio[${name}]`),
  ];
}

function validateRatio(
  ratio: string | undefined,
  min: string | undefined,
  max: string | undefined,
  path: string,
): FieldError[] {
  if (ratio === undefined) return [];
  const errors: FieldError[] = [];
  if (compareQuantityTexts(ratio, '1') < 0)
    errors.push(fieldError.invalid(path, ratio, `ratio ${ratio} is less than 1`));
  if (min === undefined || max === undefined) return errors;
  const [value, low, high] = [ratio, min, max].map((text) => Number(parseQuantity(text).nano)) as [
    number,
    number,
    number,
  ];
  const most = high / low;
  if (value / 1e9 <= most) return errors;
  const why = `ratio ${ratio} is greater than max/min = ${most.toFixed(6)}`;
  return [...errors, fieldError.invalid(path, ratio, why)];
}
