/** The types of apiextensions/v1. */
import type { Json } from '../meta/index.ts';
import {
  anyObject,
  anyValue,
  bool,
  bytes,
  double,
  either,
  field,
  type Infer,
  int32,
  int64,
  type LazySchema,
  type ListSchema,
  lazy,
  list,
  map,
  named,
  type ScalarSchema,
  type Schema,
  string,
  struct,
  time,
} from '../schema/index.ts';
import { conditionStatuses, ObjectMeta, Status, typeMeta } from './meta-v1.ts';

// CustomResourceDefinition

export const CustomResourceDefinitionNames = struct('apiextensions/v1.CustomResourceDefinitionNames', {
  plural: field(1, string, { required: true, emptyOk: true, always: true }),
  singular: field(2, string),
  shortNames: field(3, list(string), { listType: 'atomic' }),
  kind: field(4, string, { required: true, emptyOk: true, always: true }),
  listKind: field(5, string),
  categories: field(6, list(string), { listType: 'atomic' }),
});

export const ExternalDocumentation = struct('apiextensions/v1.ExternalDocumentation', {
  description: field(1, string),
  url: field(2, string),
});

export const ValidationRule = struct('apiextensions/v1.ValidationRule', {
  rule: field(1, string, { required: true, emptyOk: true, always: true }),
  message: field(2, string),
  messageExpression: field(3, string),
  reason: field(4, string, {
    nullable: true,
    known: ['FieldValueRequired', 'FieldValueDuplicate', 'FieldValueInvalid', 'FieldValueForbidden'],
    open: true,
    enum: true,
  }),
  fieldPath: field(5, string),
  optionalOldSelf: field(6, bool, { nullable: true, gate: 'CRDValidationRatcheting' }),
});
export type ValidationRule = Infer<typeof ValidationRule>;

export type JSONSchemaProps = {
  id?: string;
  $schema?: string;
  $ref?: string;
  description?: string;
  type?: string;
  format?: string;
  title?: string;
  default?: Json;
  maximum?: number;
  exclusiveMaximum?: boolean;
  minimum?: number;
  exclusiveMinimum?: boolean;
  maxLength?: number;
  minLength?: number;
  pattern?: string;
  maxItems?: number;
  minItems?: number;
  uniqueItems?: boolean;
  multipleOf?: number;
  enum?: Json[];
  maxProperties?: number;
  minProperties?: number;
  required?: string[];
  items?: JSONSchemaProps | JSONSchemaProps[];
  allOf?: JSONSchemaProps[];
  oneOf?: JSONSchemaProps[];
  anyOf?: JSONSchemaProps[];
  not?: JSONSchemaProps;
  properties?: { [key: string]: JSONSchemaProps };
  additionalProperties?: JSONSchemaProps | boolean;
  patternProperties?: { [key: string]: JSONSchemaProps };
  dependencies?: { [key: string]: JSONSchemaProps | string[] };
  additionalItems?: JSONSchemaProps | boolean;
  definitions?: { [key: string]: JSONSchemaProps };
  externalDocs?: Infer<typeof ExternalDocumentation>;
  example?: Json;
  nullable?: boolean;
  'x-{product}-preserve-unknown-fields'?: boolean;
  'x-{product}-embedded-resource'?: boolean;
  'x-{product}-int-or-string'?: boolean;
  'x-{product}-list-map-keys'?: string[];
  'x-{product}-list-type'?: string;
  'x-{product}-map-type'?: string;
  'x-{product}-validations'?: ValidationRule[];
};

// The schema that contains itself: seen from inside it is a value of the type above.
type Self = LazySchema<ScalarSchema<JSONSchemaProps>>;
const self = lazy((): Schema => JSONSchemaProps) as Self;
export const JSONValue = named('apiextensions/v1.JSON', anyValue);
export const JSONSchemaPropsOrArray = either<Self | ListSchema<Self>>(
  'apiextensions/v1.JSONSchemaPropsOrArray',
  self,
  list(self),
);
export const JSONSchemaPropsOrBool = either<typeof bool | Self>('apiextensions/v1.JSONSchemaPropsOrBool', bool, self);
export const JSONSchemaPropsOrStringArray = either<Self | ListSchema<typeof string>>(
  'apiextensions/v1.JSONSchemaPropsOrStringArray',
  self,
  list(string),
);

export const JSONSchemaProps = struct('apiextensions/v1.JSONSchemaProps', {
  id: field(1, string),
  $schema: field(2, string, { protoName: 'schema' }),
  $ref: field(3, string, { nullable: true, protoName: 'ref' }),
  description: field(4, string),
  type: field(5, string),
  format: field(6, string),
  title: field(7, string),
  default: field(8, JSONValue, { nullable: true }),
  maximum: field(9, double, { nullable: true }),
  exclusiveMaximum: field(10, bool),
  minimum: field(11, double, { nullable: true }),
  exclusiveMinimum: field(12, bool),
  maxLength: field(13, int64, { nullable: true }),
  minLength: field(14, int64, { nullable: true }),
  pattern: field(15, string),
  maxItems: field(16, int64, { nullable: true }),
  minItems: field(17, int64, { nullable: true }),
  uniqueItems: field(18, bool),
  multipleOf: field(19, double, { nullable: true }),
  enum: field(20, list(JSONValue), { listType: 'atomic' }),
  maxProperties: field(21, int64, { nullable: true }),
  minProperties: field(22, int64, { nullable: true }),
  required: field(23, list(string), { listType: 'atomic' }),
  items: field(24, JSONSchemaPropsOrArray, { nullable: true }),
  allOf: field(25, list(self), { listType: 'atomic' }),
  oneOf: field(26, list(self), { listType: 'atomic' }),
  anyOf: field(27, list(self), { listType: 'atomic' }),
  not: field(28, self, { nullable: true }),
  properties: field(29, map(self)),
  additionalProperties: field(30, JSONSchemaPropsOrBool, { nullable: true }),
  patternProperties: field(31, map(self)),
  dependencies: field(32, map(JSONSchemaPropsOrStringArray)),
  additionalItems: field(33, JSONSchemaPropsOrBool, { nullable: true }),
  definitions: field(34, map(self)),
  externalDocs: field(35, ExternalDocumentation, { nullable: true }),
  example: field(36, JSONValue, { nullable: true }),
  nullable: field(37, bool),
  'x-{product}-preserve-unknown-fields': field(38, bool, { nullable: true }),
  'x-{product}-embedded-resource': field(39, bool),
  'x-{product}-int-or-string': field(40, bool),
  'x-{product}-list-map-keys': field(41, list(string), { listType: 'atomic' }),
  'x-{product}-list-type': field(42, string, { nullable: true }),
  'x-{product}-map-type': field(43, string, { nullable: true }),
  'x-{product}-validations': field(44, list(ValidationRule), {
    listType: 'map',
    listMapKeys: ['rule'],
    duplicates: true,
    patchStrategy: 'merge',
    patchMergeKey: 'rule',
  }),
});

export const CustomResourceValidation = struct('apiextensions/v1.CustomResourceValidation', {
  openAPIV3Schema: field(1, JSONSchemaProps, { nullable: true }),
});

export const CustomResourceSubresourceStatus = struct('apiextensions/v1.CustomResourceSubresourceStatus', {});

export const CustomResourceSubresourceScale = struct('apiextensions/v1.CustomResourceSubresourceScale', {
  specReplicasPath: field(1, string, { required: true, emptyOk: true, always: true }),
  statusReplicasPath: field(2, string, { required: true, emptyOk: true, always: true }),
  labelSelectorPath: field(3, string, { nullable: true }),
});

export const CustomResourceSubresources = struct('apiextensions/v1.CustomResourceSubresources', {
  status: field(1, CustomResourceSubresourceStatus, { nullable: true }),
  scale: field(2, CustomResourceSubresourceScale, { nullable: true }),
});

export const CustomResourceColumnDefinition = struct('apiextensions/v1.CustomResourceColumnDefinition', {
  name: field(1, string, { required: true, emptyOk: true, always: true }),
  type: field(2, string, { required: true, emptyOk: true, always: true }),
  format: field(3, string),
  description: field(4, string),
  priority: field(5, int32),
  jsonPath: field(6, string, { required: true, emptyOk: true, always: true }),
});

export const SelectableField = struct('apiextensions/v1.SelectableField', {
  jsonPath: field(1, string, { required: true, emptyOk: true, always: true }),
});

export const CustomResourceDefinitionVersion = struct('apiextensions/v1.CustomResourceDefinitionVersion', {
  name: field(1, string, { required: true, emptyOk: true, always: true }),
  served: field(2, bool, { required: true, emptyOk: true, always: true }),
  storage: field(3, bool, { required: true, emptyOk: true, always: true }),
  deprecated: field(7, bool),
  deprecationWarning: field(8, string, { nullable: true }),
  schema: field(4, CustomResourceValidation, { nullable: true }),
  subresources: field(5, CustomResourceSubresources, { nullable: true }),
  additionalPrinterColumns: field(6, list(CustomResourceColumnDefinition), { listType: 'atomic' }),
  selectableFields: field(9, list(SelectableField), { listType: 'atomic', gate: 'CustomResourceFieldSelectors' }),
});
export type CustomResourceDefinitionVersion = Infer<typeof CustomResourceDefinitionVersion>;

export const ServiceReference = struct('apiextensions/v1.ServiceReference', {
  namespace: field(1, string, { required: true, emptyOk: true, always: true }),
  name: field(2, string, { required: true, emptyOk: true, always: true }),
  path: field(3, string, { nullable: true }),
  port: field(4, int32, { nullable: true }),
});

export const WebhookClientConfig = struct('apiextensions/v1.WebhookClientConfig', {
  url: field(3, string, { nullable: true }),
  service: field(1, ServiceReference, { nullable: true }),
  caBundle: field(2, bytes),
});
export type WebhookClientConfig = Infer<typeof WebhookClientConfig>;

export const WebhookConversion = struct('apiextensions/v1.WebhookConversion', {
  clientConfig: field(2, WebhookClientConfig, { nullable: true }),
  conversionReviewVersions: field(3, list(string), {
    required: true,
    emptyOk: true,
    always: true,
    listType: 'atomic',
  }),
});

export const CustomResourceConversion = struct('apiextensions/v1.CustomResourceConversion', {
  strategy: field(1, string, { required: true, always: true, known: ['None', 'Webhook'], enum: false }),
  webhook: field(2, WebhookConversion, { nullable: true }),
});

export const CustomResourceDefinitionSpec = struct('apiextensions/v1.CustomResourceDefinitionSpec', {
  group: field(1, string, { required: true, always: true }),
  names: field(3, CustomResourceDefinitionNames, { required: true, always: true }),
  scope: field(4, string, { required: true, always: true, known: ['Cluster', 'Namespaced'], enum: false }),
  versions: field(7, list(CustomResourceDefinitionVersion), {
    required: true,
    emptyOk: true,
    nullable: true,
    always: true,
    listType: 'atomic',
  }),
  conversion: field(9, CustomResourceConversion, { nullable: true }),
  preserveUnknownFields: field(10, bool),
});
export type CustomResourceDefinitionSpec = Infer<typeof CustomResourceDefinitionSpec>;

export const CustomResourceDefinitionCondition = struct('apiextensions/v1.CustomResourceDefinitionCondition', {
  type: field(1, string, {
    required: true,
    emptyOk: true,
    always: true,
    known: ['Established', 'NamesAccepted', 'NonStructuralSchema', 'Terminating'],
    open: true,
  }),
  status: field(2, string, { required: true, emptyOk: true, always: true, known: conditionStatuses, open: true }),
  lastTransitionTime: field(3, time),
  reason: field(4, string),
  message: field(5, string),
});

export const CustomResourceDefinitionStatus = struct('apiextensions/v1.CustomResourceDefinitionStatus', {
  conditions: field(1, list(CustomResourceDefinitionCondition), {
    always: true,
    listType: 'map',
    listMapKeys: ['type'],
    duplicates: true,
  }),
  acceptedNames: field(2, CustomResourceDefinitionNames, { always: true }),
  storedVersions: field(3, list(string), { always: true, listType: 'atomic' }),
});
export type CustomResourceDefinitionStatus = Infer<typeof CustomResourceDefinitionStatus>;

export const CustomResourceDefinition = struct('apiextensions/v1.CustomResourceDefinition', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  spec: field(2, CustomResourceDefinitionSpec, { required: true, always: true }),
  status: field(3, CustomResourceDefinitionStatus),
});
export type CustomResourceDefinition = Infer<typeof CustomResourceDefinition>;

// ConversionReview

export const ConversionRequest = struct('apiextensions/v1.ConversionRequest', {
  uid: field(1, string, { required: true, emptyOk: true, always: true }),
  desiredAPIVersion: field(2, string, { required: true, emptyOk: true, always: true }),
  objects: field(3, list(anyObject), { required: true, emptyOk: true, always: true, listType: 'atomic' }),
});

export const ConversionResponse = struct('apiextensions/v1.ConversionResponse', {
  uid: field(1, string, { required: true, emptyOk: true, always: true }),
  convertedObjects: field(2, list(anyObject), { required: true, emptyOk: true, always: true, listType: 'atomic' }),
  result: field(3, Status, { required: true, always: true }),
});

export const ConversionReview = struct('apiextensions/v1.ConversionReview', {
  ...typeMeta,
  request: field(1, ConversionRequest, { nullable: true }),
  response: field(2, ConversionResponse, { nullable: true }),
});
export type ConversionReview = Infer<typeof ConversionReview>;

// Parts of no kind here
