/** Types and helpers that every room uses: names, kinds, object metadata, selectors, quantities, times, JSON, `StatusError`. */
export { type Annotate, accessDenied, nodeOf, nodePrefix, type ResourcePlace, type User } from './access.ts';
export { type ByteString, bufferOf, bytesOf, decodeText, encodeText } from './bytes.ts';
export type { Clock } from './clock.ts';
export { countCodePoints } from './code-points.ts';
export { domainPath } from './domain-path.ts';
export type { FeatureGate } from './feature-gate.ts';
export {
  defaultFeatures,
  type FeatureName,
  type Features,
  featureGates,
  featureList,
  gatesIn,
} from './features.ts';
export {
  allErrors,
  errorsAfter,
  errorsInSteps,
  errorsLater,
  errorsNow,
  errorsOfEach,
  errorsWith,
  type FieldError,
  type FieldErrorReason,
  fieldError,
  fieldErrors,
  fieldErrorsInSteps,
  maxErrors,
  maxErrorText,
  omitted,
  settledErrors,
  withoutReplaced,
} from './field-error.ts';
export {
  compareVersions,
  formatGroupResource,
  formatGroupVersion,
  type GroupResource,
  type GroupVersion,
  type GroupVersionKind,
  parseGroupVersion,
} from './gvk.ts';
export { Heap } from './heap.ts';
export { inertGates } from './inert-features.ts';
export {
  addressBytes,
  type Cidr,
  canonicalIp,
  clientNetwork,
  firstAddress,
  formatCidr,
  formatIp,
  type IpNumber,
  parseCidr,
  parseNetwork,
  readIp,
  socketAddress,
} from './ip.ts';
export {
  escapeHtml,
  getKey,
  isJsonObject,
  type Json,
  type JsonArray,
  type JsonObject,
  jsonCopy,
  jsonEqual,
  jsonType,
  MAX_DEPTH,
  MAX_FIELDS,
  MAX_ITEMS,
  MAX_MEMBERS,
  readJsonText,
  setKey,
  textOf,
} from './json.ts';
export { exactNumber, parseExact, parseExactInSteps } from './json-exact.ts';
export { identityInSteps, jsonEqualInSteps, scalarIdentity, sortedTexts } from './json-steps.ts';
export { readJsonTextInSteps } from './json-text.ts';
export { Lanes } from './lanes.ts';
export { equalInSteps, isKnownLarge, isLarge, jsonCopyInSteps, largeWeight, weigh } from './large-json.ts';
export {
  buildMetric,
  compatibleDomain,
  defaultDomain,
  expandNames,
  expandNamesIn,
  expressionTypes,
  featureMetric,
  healthMetrics,
  type Names,
  namesFor,
  ownMetric,
  productName,
  spdyProtocols,
  streamProtocols,
} from './names.ts';
export { type ApiObject, annotationOf, at, type ObjectMeta, type OwnerReference } from './object.ts';
export { once } from './once.ts';
export { comparePaths, duplicateField, formatPath, type Path, unknownField } from './path.ts';
export {
  addQuantities,
  canonicalQuantity,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  type Quantity,
  type QuantityFormat,
  subtractQuantities,
} from './quantity.ts';
export { aggregateMessages, isPrintable, maxShown, quote, shorten, wrap } from './quote.ts';
export type { Random } from './random.ts';
export { readTimeMs } from './read-time.ts';
export { ReceivedBytes } from './received-bytes.ts';
export { type ReceivedSelector, receiveSelectors, type Selectors, selectorBytes } from './received-selectors.ts';
export {
  apiRelease,
  compareReleases,
  compatibleRelease,
  formatRelease,
  isSince,
  oldestEmulation,
  parseRelease,
  type Release,
  type ReleaseText,
  releaseBefore,
} from './release.ts';
export type { ReviewCall, ReviewHandler } from './review-handler.ts';
export { inTurnAfter, inTurns, peerTurns, type Scheduler, scheduler, serverTurns, type Turns } from './scheduler.ts';
export { selectorFromObject, validateSelectorObject } from './selector-object.ts';
export {
  type FieldSelector,
  type FieldTerm,
  type LabelOperator,
  type LabelRequirement,
  type LabelSelector,
  type Labels,
  parseFieldSelector,
  parseLabelSelector,
} from './selectors.ts';
export { type RequestTrace, type Span, Stage, Stages, stageNames } from './stages.ts';
export {
  boundedCauses,
  isStatus,
  type Status,
  type StatusCause,
  type StatusDetails,
  StatusError,
  statusError,
} from './status-error.ts';
export { atOnce, oneStep, Pace, type Steps, sortedInSteps, type WaitingSteps } from './steps.ts';
export { isBase64, isDate, isDateTime, isUuid } from './string-formats.ts';
export { systemClock, systemRandom } from './system.ts';
export {
  canonicalDuration,
  canonicalTime,
  formatAge,
  formatDuration,
  formatMicroTime,
  formatSpan,
  formatTime,
  type Instant,
  parseDuration,
  parseInstant,
  parseTime,
} from './time.ts';
export { toUserInfo } from './user-info.ts';
export {
  immutable,
  type MetaRules,
  validateAnnotations,
  validateBareFinalizers,
  validateLabels,
  validateMutableFields,
  validateObjectMeta,
  validateObjectMetaUpdate,
} from './validate-meta.ts';
export {
  cIdentifier,
  cidr,
  configMapKey,
  dns1035Label,
  dns1123Label,
  dns1123Subdomain,
  envVarName,
  httpHeaderName,
  inRange,
  ipAddress,
  labelValue,
  type NameRule,
  pathSegmentName,
  percent,
  portName,
  portNumber,
  qualifiedName,
  wildcardDns1123Subdomain,
} from './validate-names.ts';
export { valueText } from './value-text.ts';
export { VirtualClock } from './virtual-clock.ts';
export { warned, warningsOf } from './warned.ts';
export {
  closeCodes,
  FrameError,
  FrameReader,
  frame,
  frameHead,
  maskedFrame,
  opcodes,
  webSocketAccept,
} from './web-socket-frames.ts';
export type { CheckedWrite, WriteCheck } from './write-check.ts';
