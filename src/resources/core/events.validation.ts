import { type FieldError, fieldError, qualifiedName } from '../../meta/index.ts';
import type { ObjectOf } from '../../schema/index.ts';
import type { Event } from '../../types/core-v1.ts';
import { byRule, unchanged } from '../shared/field-rules.ts';

type EventObject = ObjectOf<typeof Event>;

const MAX_TEXT = 128;
const MAX_MESSAGE = 1024;
/** The namespaces of events about cluster-scoped objects. */
const clusterNamespaces = ['default', 'kube-system'];

/**
 * Validates an event of either API group: core/v1 events have no `eventTime`, events.v1 require the reporting fields.
 * `reporter` is the name of the field with the reporting controller.
 */
export function validateEvent(event: EventObject, reporter: string): FieldError[] {
  const { metadata, involvedObject, eventTime } = event;
  const namespace = metadata.namespace ?? '';
  const about = involvedObject?.namespace ?? '';
  const old = (eventTime ?? '') === '';
  const fits = old
    ? about === ''
      ? namespace === '' || namespace === 'default'
      : namespace === about
    : about !== '' || clusterNamespaces.includes(namespace);
  const errors = fits ? [] : [fieldError.invalid('involvedObject.namespace', about, 'does not match event.namespace')];
  return old ? errors : [...errors, ...validateReport(event, reporter)];
}

function validateReport(event: EventObject, reporter: string): FieldError[] {
  const { reportingComponent = '', reportingInstance = '', action = '', reason = '', message = '' } = event;
  const errors: FieldError[] = [];
  if (reportingComponent === '') errors.push(fieldError.required(reporter));
  errors.push(...byRule(reporter, reportingComponent, qualifiedName));
  for (const [field, text] of Object.entries({ reportingInstance, action, reason })) {
    if (text === '') errors.push(fieldError.required(field));
    errors.push(...validateLength(field, text, MAX_TEXT));
  }
  return [...errors, ...validateLength('message', message, MAX_MESSAGE)];
}

const validateLength = (field: string, text: string, most: number): FieldError[] =>
  Buffer.byteLength(text) <= most ? [] : [fieldError.invalid(field, '', `can have at most ${most} characters`)];

/** Validates what events.v1 requires on create. */
export function validateNewEvent(event: EventObject): FieldError[] {
  const { eventTime, type = '', firstTimestamp, lastTimestamp, count = 0, source } = event;
  const errors = validateSeries(event);
  if ((eventTime ?? '') === '') errors.push(fieldError.required('eventTime'));
  if (type !== 'Normal' && type !== 'Warning') {
    errors.push(fieldError.invalid('type', '', `has invalid value: ${type}`));
  }
  const set = {
    firstTimestamp: (firstTimestamp ?? '') !== '',
    lastTimestamp: (lastTimestamp ?? '') !== '',
    count: count !== 0,
    source: (source?.component ?? '') !== '' || (source?.host ?? '') !== '',
  };
  for (const [field, isSet] of Object.entries(set)) {
    if (isSet) errors.push(fieldError.invalid(field, '', 'needs to be unset'));
  }
  return errors;
}

export function validateSeries({ series }: EventObject): FieldError[] {
  if (series === undefined) return [];
  const { count = 0, lastObservedTime } = series;
  const errors: FieldError[] = [];
  if (count < 2) errors.push(fieldError.invalid('series.count', '', 'should be at least 2'));
  if ((lastObservedTime ?? '') === '') errors.push(fieldError.required('series.lastObservedTime'));
  return errors;
}

/** All fields but `series` are immutable. */
export const validateReportImmutable = (event: EventObject, old: EventObject): FieldError[] =>
  (
    [
      'involvedObject',
      'reason',
      'message',
      'source',
      'firstTimestamp',
      'lastTimestamp',
      'count',
      // The reference server reports this field twice.
      'reason',
      'type',
      'eventTime',
      'action',
      'related',
      'reportingInstance',
    ] as const
  )
    .flatMap((field) => unchanged(field, event[field], old[field]))
    .concat(unchanged('reportingController', event.reportingComponent, old.reportingComponent));
