import { isJsonObject, type Json } from '../meta/index.ts';

/** The type of a field: `Any` is any value as YAML; other capitalised names are messages of {@link messages}. */
type ScalarType = 'string' | 'bool' | 'int64' | 'double' | 'Any';
export type FieldType = ScalarType | MessageName;

/** The number of a field and its type; `[]` for a repeated field. */
export type FieldShape = readonly [number: number, type: FieldType | `${FieldType}[]`];

export interface Message {
  /** By the names of the document. */
  readonly fields: { readonly [name: string]: FieldShape };
  /** The field number of the extensions (`x-…`), which are pairs of a name and any value. */
  readonly extensions?: number;
  /** The field number of all other members, which are pairs of a name and a value, and the type of the values. */
  readonly entries?: readonly [number: number, type: FieldType];
}

/** Chooses the single field of a message that is set (oneof) for a value; undefined when none fits. */
export type Choice = (value: Json) => FieldShape | undefined;

/** The fields that all messages of primitive values have, in this order. */
const primitive = (first: number): Message['fields'] => ({
  type: [first, 'string'],
  format: [first + 1, 'string'],
  items: [first + 2, 'PrimitivesItems'],
  collectionFormat: [first + 3, 'string'],
  default: [first + 4, 'Any'],
  maximum: [first + 5, 'double'],
  exclusiveMaximum: [first + 6, 'bool'],
  minimum: [first + 7, 'double'],
  exclusiveMinimum: [first + 8, 'bool'],
  maxLength: [first + 9, 'int64'],
  minLength: [first + 10, 'int64'],
  pattern: [first + 11, 'string'],
  maxItems: [first + 12, 'int64'],
  minItems: [first + 13, 'int64'],
  uniqueItems: [first + 14, 'bool'],
  enum: [first + 15, 'Any[]'],
  multipleOf: [first + 16, 'double'],
});

/** The first fields of all parameters but the body. */
const located: Message['fields'] = {
  required: [1, 'bool'],
  in: [2, 'string'],
  description: [3, 'string'],
  name: [4, 'string'],
};

const fieldOf = (value: Json, name: string): Json | undefined => (isJsonObject(value) ? value[name] : undefined);
export const orReference =
  (type: MessageName, reference: MessageName = 'JsonReference'): Choice =>
  (value) =>
    fieldOf(value, '$ref') === undefined ? [1, type] : [2, reference];

export type MessageName = MessageNameV2 | MessageNameV3;

type MessageNameV2 =
  | 'AdditionalPropertiesItem'
  | 'ApiKeySecurity'
  | 'BasicAuthenticationSecurity'
  | 'BodyParameter'
  | 'Contact'
  | 'Definitions'
  | 'Document'
  | 'Examples'
  | 'ExternalDocs'
  | 'FileSchema'
  | 'FormDataParameterSubSchema'
  | 'Header'
  | 'HeaderParameterSubSchema'
  | 'Headers'
  | 'Info'
  | 'ItemsItem'
  | 'JsonReference'
  | 'License'
  | 'NonBodyParameter'
  | 'Oauth2AccessCodeSecurity'
  | 'Oauth2ApplicationSecurity'
  | 'Oauth2ImplicitSecurity'
  | 'Oauth2PasswordSecurity'
  | 'Oauth2Scopes'
  | 'Operation'
  | 'Parameter'
  | 'ParameterDefinitions'
  | 'ParametersItem'
  | 'PathItem'
  | 'PathParameterSubSchema'
  | 'Paths'
  | 'PrimitivesItems'
  | 'Properties'
  | 'QueryParameterSubSchema'
  | 'Response'
  | 'ResponseDefinitions'
  | 'ResponseValue'
  | 'Responses'
  | 'Schema'
  | 'SchemaItem'
  | 'SecurityDefinitions'
  | 'SecurityDefinitionsItem'
  | 'SecurityRequirement'
  | 'StringArray'
  | 'Tag'
  | 'TypeItem'
  | 'Xml';

export type MessageNameV3 = `v3.${
  | 'AdditionalPropertiesItem'
  | 'Components'
  | 'DefaultType'
  | 'Document'
  | 'ExternalDocs'
  | 'Info'
  | 'ItemsItem'
  | 'MediaType'
  | 'MediaTypes'
  | 'Operation'
  | 'Parameter'
  | 'ParameterOrReference'
  | 'PathItem'
  | 'Paths'
  | 'Properties'
  | 'Reference'
  | 'RequestBody'
  | 'RequestBodyOrReference'
  | 'Response'
  | 'ResponseOrReference'
  | 'Responses'
  | 'Schema'
  | 'SchemaOrReference'
  | 'SchemasOrReferences'
  | 'SecurityRequirement'
  | 'SecurityScheme'
  | 'SecuritySchemeOrReference'
  | 'SecuritySchemesOrReferences'
  | 'StringArray'}`;

/** The messages of the package `openapi.v2`, an OpenAPI 2.0 document in protobuf. */
export const messages: { readonly [name in MessageNameV2]: Message | Choice } = {
  AdditionalPropertiesItem: (value) => (typeof value === 'boolean' ? [2, 'bool'] : [1, 'Schema']),
  ApiKeySecurity: {
    fields: { type: [1, 'string'], name: [2, 'string'], in: [3, 'string'], description: [4, 'string'] },
    extensions: 5,
  },
  BasicAuthenticationSecurity: { fields: { type: [1, 'string'], description: [2, 'string'] }, extensions: 3 },
  BodyParameter: {
    fields: {
      description: [1, 'string'],
      name: [2, 'string'],
      in: [3, 'string'],
      required: [4, 'bool'],
      schema: [5, 'Schema'],
    },
    extensions: 6,
  },
  Contact: { fields: { name: [1, 'string'], url: [2, 'string'], email: [3, 'string'] }, extensions: 4 },
  Definitions: { fields: {}, entries: [1, 'Schema'] },
  Document: {
    fields: {
      swagger: [1, 'string'],
      info: [2, 'Info'],
      host: [3, 'string'],
      basePath: [4, 'string'],
      schemes: [5, 'string[]'],
      consumes: [6, 'string[]'],
      produces: [7, 'string[]'],
      paths: [8, 'Paths'],
      definitions: [9, 'Definitions'],
      parameters: [10, 'ParameterDefinitions'],
      responses: [11, 'ResponseDefinitions'],
      security: [12, 'SecurityRequirement[]'],
      securityDefinitions: [13, 'SecurityDefinitions'],
      tags: [14, 'Tag[]'],
      externalDocs: [15, 'ExternalDocs'],
    },
    extensions: 16,
  },
  Examples: { fields: {}, entries: [1, 'Any'] },
  ExternalDocs: { fields: { description: [1, 'string'], url: [2, 'string'] }, extensions: 3 },
  FileSchema: {
    fields: {
      format: [1, 'string'],
      title: [2, 'string'],
      description: [3, 'string'],
      default: [4, 'Any'],
      required: [5, 'string[]'],
      type: [6, 'string'],
      readOnly: [7, 'bool'],
      externalDocs: [8, 'ExternalDocs'],
      example: [9, 'Any'],
    },
    extensions: 10,
  },
  FormDataParameterSubSchema: {
    fields: { ...located, allowEmptyValue: [5, 'bool'], ...primitive(6) },
    extensions: 23,
  },
  Header: { fields: { ...primitive(1), description: [18, 'string'] }, extensions: 19 },
  HeaderParameterSubSchema: { fields: { ...located, ...primitive(5) }, extensions: 22 },
  Headers: { fields: {}, entries: [1, 'Header'] },
  Info: {
    fields: {
      title: [1, 'string'],
      version: [2, 'string'],
      description: [3, 'string'],
      termsOfService: [4, 'string'],
      contact: [5, 'Contact'],
      license: [6, 'License'],
    },
    extensions: 7,
  },
  ItemsItem: () => [1, 'Schema[]'],
  JsonReference: { fields: { $ref: [1, 'string'], description: [2, 'string'] } },
  License: { fields: { name: [1, 'string'], url: [2, 'string'] }, extensions: 3 },
  NonBodyParameter: (value) => {
    const place = fieldOf(value, 'in');
    if (place === 'header') return [1, 'HeaderParameterSubSchema'];
    if (place === 'formData') return [2, 'FormDataParameterSubSchema'];
    return place === 'query' ? [3, 'QueryParameterSubSchema'] : [4, 'PathParameterSubSchema'];
  },
  Oauth2AccessCodeSecurity: {
    fields: {
      type: [1, 'string'],
      flow: [2, 'string'],
      scopes: [3, 'Oauth2Scopes'],
      authorizationUrl: [4, 'string'],
      tokenUrl: [5, 'string'],
      description: [6, 'string'],
    },
    extensions: 7,
  },
  Oauth2ApplicationSecurity: {
    fields: {
      type: [1, 'string'],
      flow: [2, 'string'],
      scopes: [3, 'Oauth2Scopes'],
      tokenUrl: [4, 'string'],
      description: [5, 'string'],
    },
    extensions: 6,
  },
  Oauth2ImplicitSecurity: {
    fields: {
      type: [1, 'string'],
      flow: [2, 'string'],
      scopes: [3, 'Oauth2Scopes'],
      authorizationUrl: [4, 'string'],
      description: [5, 'string'],
    },
    extensions: 6,
  },
  Oauth2PasswordSecurity: {
    fields: {
      type: [1, 'string'],
      flow: [2, 'string'],
      scopes: [3, 'Oauth2Scopes'],
      tokenUrl: [4, 'string'],
      description: [5, 'string'],
    },
    extensions: 6,
  },
  Oauth2Scopes: { fields: {}, entries: [1, 'string'] },
  Operation: {
    fields: {
      tags: [1, 'string[]'],
      summary: [2, 'string'],
      description: [3, 'string'],
      externalDocs: [4, 'ExternalDocs'],
      operationId: [5, 'string'],
      produces: [6, 'string[]'],
      consumes: [7, 'string[]'],
      parameters: [8, 'ParametersItem[]'],
      responses: [9, 'Responses'],
      schemes: [10, 'string[]'],
      deprecated: [11, 'bool'],
      security: [12, 'SecurityRequirement[]'],
    },
    extensions: 13,
  },
  Parameter: (value) => (fieldOf(value, 'in') === 'body' ? [1, 'BodyParameter'] : [2, 'NonBodyParameter']),
  ParameterDefinitions: { fields: {}, entries: [1, 'Parameter'] },
  ParametersItem: orReference('Parameter'),
  PathItem: {
    fields: {
      $ref: [1, 'string'],
      get: [2, 'Operation'],
      put: [3, 'Operation'],
      post: [4, 'Operation'],
      delete: [5, 'Operation'],
      options: [6, 'Operation'],
      head: [7, 'Operation'],
      patch: [8, 'Operation'],
      parameters: [9, 'ParametersItem[]'],
    },
    extensions: 10,
  },
  PathParameterSubSchema: { fields: { ...located, ...primitive(5) }, extensions: 22 },
  Paths: { fields: {}, extensions: 1, entries: [2, 'PathItem'] },
  PrimitivesItems: { fields: primitive(1), extensions: 18 },
  Properties: { fields: {}, entries: [1, 'Schema'] },
  QueryParameterSubSchema: { fields: { ...located, allowEmptyValue: [5, 'bool'], ...primitive(6) }, extensions: 23 },
  Response: {
    fields: {
      description: [1, 'string'],
      schema: [2, 'SchemaItem'],
      headers: [3, 'Headers'],
      examples: [4, 'Examples'],
    },
    extensions: 5,
  },
  ResponseDefinitions: { fields: {}, entries: [1, 'Response'] },
  ResponseValue: orReference('Response'),
  Responses: { fields: {}, entries: [1, 'ResponseValue'], extensions: 2 },
  Schema: {
    fields: {
      $ref: [1, 'string'],
      format: [2, 'string'],
      title: [3, 'string'],
      description: [4, 'string'],
      default: [5, 'Any'],
      multipleOf: [6, 'double'],
      maximum: [7, 'double'],
      exclusiveMaximum: [8, 'bool'],
      minimum: [9, 'double'],
      exclusiveMinimum: [10, 'bool'],
      maxLength: [11, 'int64'],
      minLength: [12, 'int64'],
      pattern: [13, 'string'],
      maxItems: [14, 'int64'],
      minItems: [15, 'int64'],
      uniqueItems: [16, 'bool'],
      maxProperties: [17, 'int64'],
      minProperties: [18, 'int64'],
      required: [19, 'string[]'],
      enum: [20, 'Any[]'],
      additionalProperties: [21, 'AdditionalPropertiesItem'],
      type: [22, 'TypeItem'],
      items: [23, 'ItemsItem'],
      allOf: [24, 'Schema[]'],
      properties: [25, 'Properties'],
      discriminator: [26, 'string'],
      readOnly: [27, 'bool'],
      xml: [28, 'Xml'],
      externalDocs: [29, 'ExternalDocs'],
      example: [30, 'Any'],
    },
    extensions: 31,
  },
  SchemaItem: (value) => (fieldOf(value, 'type') === 'file' ? [2, 'FileSchema'] : [1, 'Schema']),
  SecurityDefinitions: { fields: {}, entries: [1, 'SecurityDefinitionsItem'] },
  SecurityDefinitionsItem: (value) => {
    const type = fieldOf(value, 'type');
    if (type === 'basic') return [1, 'BasicAuthenticationSecurity'];
    if (type === 'apiKey') return [2, 'ApiKeySecurity'];
    const flow = fieldOf(value, 'flow');
    if (flow === 'implicit') return [3, 'Oauth2ImplicitSecurity'];
    if (flow === 'password') return [4, 'Oauth2PasswordSecurity'];
    return flow === 'application' ? [5, 'Oauth2ApplicationSecurity'] : [6, 'Oauth2AccessCodeSecurity'];
  },
  SecurityRequirement: { fields: {}, entries: [1, 'StringArray'] },
  StringArray: () => [1, 'string[]'],
  Tag: {
    fields: { name: [1, 'string'], description: [2, 'string'], externalDocs: [3, 'ExternalDocs'] },
    extensions: 4,
  },
  TypeItem: () => [1, 'string[]'],
  Xml: {
    fields: {
      name: [1, 'string'],
      namespace: [2, 'string'],
      prefix: [3, 'string'],
      attribute: [4, 'bool'],
      wrapped: [5, 'bool'],
    },
    extensions: 6,
  },
};
