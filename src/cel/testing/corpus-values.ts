/** Values and types of the conformance cases. */
import { Buffer } from 'node:buffer';
import {
  boolType,
  bytesType,
  type CelType,
  doubleType,
  durationType,
  dynType,
  intType,
  listType,
  mapType,
  metaType,
  nullType,
  opaqueType,
  optionalType,
  parameterType,
  stringType,
  timestampType,
  uintType,
} from '../types.ts';
import {
  Double,
  Duration,
  EntriesValue,
  intOf,
  ListValue,
  MapValue,
  OptionalValue,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
} from '../values.ts';
import type { WireType, WireValue } from './corpus.ts';

export function fromWire(wire: WireValue): Value {
  if (wire.boolValue !== undefined) return wire.boolValue;
  if (wire.int64Value !== undefined) return intOf(BigInt(wire.int64Value));
  if (wire.uint64Value !== undefined) return new Uint(BigInt(wire.uint64Value));
  if (wire.doubleValue !== undefined) return new Double(Number(wire.doubleValue));
  if (wire.stringValue !== undefined) return wire.stringValue;
  if (wire.bytesValue !== undefined) return Buffer.from(wire.bytesValue, 'base64');
  if (wire.typeValue !== undefined) return new TypeValue(wire.typeValue);
  if (wire.listValue !== undefined) return new ListValue((wire.listValue.values ?? []).map(fromWire));
  if (wire.mapValue !== undefined) {
    const { entries = [] } = wire.mapValue;
    return new EntriesValue(entries.map(({ key, value }) => [fromWire(key), fromWire(value)]));
  }
  if (wire.objectValue !== undefined) return timeOf(wire.objectValue['@type'], wire.objectValue.value ?? '');
  return null;
}

function timeOf(type: string, text: string): Value {
  const fraction = /\.(\d+)/.exec(text)?.[1] ?? '';
  const nanos = Number(fraction.padEnd(9, '0'));
  if (type.endsWith('Timestamp')) return new Timestamp(Math.floor(Date.parse(text) / 1000), nanos);
  const whole = BigInt(text.split(/[.s]/)[0] as string) * 1_000_000_000n;
  return new Duration(text.startsWith('-') ? whole - BigInt(nanos) : whole + BigInt(nanos));
}

/** A text that equal values of the same type have in common. */
export function textOf(value: Value): string {
  if (value === null || typeof value === 'boolean') return `${value}`;
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'number' || typeof value === 'bigint') return `${value}`;
  if (value instanceof Uint) return `${value.value}u`;
  if (value instanceof Double) return `double ${value.value}`;
  if (value instanceof Uint8Array) return `b"${Buffer.from(value).toString('base64')}"`;
  if (value instanceof TypeValue) return `type ${value.name}`;
  if (value instanceof Timestamp) return `timestamp ${value.seconds}.${value.nanos}`;
  if (value instanceof Duration) return `duration ${value.nanos}`;
  if (value instanceof OptionalValue) return `optional(${value.value === undefined ? '' : textOf(value.value)})`;
  if (value instanceof ListValue) return `[${elementsOf(value).map(textOf).join(', ')}]`;
  if (!(value instanceof MapValue)) return value.constructor.name;
  const entries = Array.from(value.keys(), (key) => `${textOf(key)}: ${textOf(value.get(key) as Value)}`);
  return `{${entries.sort().join(', ')}}`;
}

const elementsOf = (list: ListValue): Value[] => Array.from({ length: list.size }, (_, i) => list.get(i));

const named: { readonly [name: string]: CelType } = {
  BOOL: boolType,
  BYTES: bytesType,
  DOUBLE: doubleType,
  INT64: intType,
  STRING: stringType,
  UINT64: uintType,
  TIMESTAMP: timestampType,
  DURATION: durationType,
  'google.protobuf.Timestamp': timestampType,
  'google.protobuf.Duration': durationType,
};

export function typeOf(wire: WireType): CelType {
  if (wire.null !== undefined) return nullType;
  const name = wire.primitive ?? wire.wellKnown ?? wire.messageType;
  if (name !== undefined) return named[name] ?? dynType;
  if (wire.typeParam !== undefined) return parameterType(wire.typeParam);
  if (wire.listType !== undefined) return listType(typeOf(wire.listType.elemType));
  if (wire.mapType !== undefined) return mapType(typeOf(wire.mapType.keyType), typeOf(wire.mapType.valueType));
  if (wire.type !== undefined) return metaType(typeOf(wire.type));
  const abstract = wire.abstractType;
  if (abstract?.name === 'optional_type') return optionalType(typeOf(abstract.parameterTypes[0] as WireType));
  return abstract === undefined ? dynType : opaqueType(abstract.name);
}
