/** The .proto files that the messages below stand in; what they import is read with them. */
export const FILES = [
  'envoy/config/cluster/v3/cluster.proto',
  'envoy/config/endpoint/v3/endpoint.proto',
  'envoy/config/listener/v3/listener.proto',
  'envoy/config/route/v3/route.proto',
  'envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.proto',
  'envoy/extensions/filters/http/router/v3/router.proto',
  'envoy/extensions/retry/host/previous_hosts/v3/previous_hosts.proto',
  'envoy/extensions/upstreams/http/v3/http_protocol_options.proto',
] as const;

/**
 * The messages that Plimsoll writes, and of each the fields; every other field is left out of the bundle. A message
 * that a field refers to must be listed too; enums come along whole. (The messages of the discovery protocol around
 * these are read and written by hand, in src/xds.)
 */
export const MESSAGES: Readonly<Record<string, readonly string[]>> = {
  // endpoints
  'envoy.config.endpoint.v3.ClusterLoadAssignment': ['cluster_name', 'endpoints', 'policy'],
  'envoy.config.endpoint.v3.ClusterLoadAssignment.Policy': ['drop_overloads'],
  'envoy.config.endpoint.v3.ClusterLoadAssignment.Policy.DropOverload': ['category', 'drop_percentage'],
  'envoy.type.v3.FractionalPercent': ['numerator', 'denominator'],
  'envoy.config.endpoint.v3.LocalityLbEndpoints': ['locality', 'lb_endpoints', 'load_balancing_weight'],
  'envoy.config.core.v3.Locality': ['region', 'zone', 'sub_zone'],
  'envoy.config.endpoint.v3.LbEndpoint': ['endpoint', 'health_status', 'load_balancing_weight'],
  'envoy.config.endpoint.v3.Endpoint': ['address'],
  'envoy.config.core.v3.Address': ['socket_address'],
  'envoy.config.core.v3.SocketAddress': ['address', 'port_value'],

  // clusters
  'envoy.config.cluster.v3.Cluster': [
    'name',
    'type',
    'connect_timeout',
    'lb_policy',
    'least_request_lb_config',
    'eds_cluster_config',
    'common_lb_config',
    'circuit_breakers',
    'outlier_detection',
    'typed_extension_protocol_options',
  ],
  'envoy.config.cluster.v3.Cluster.LeastRequestLbConfig': ['active_request_bias'],
  'envoy.config.cluster.v3.Cluster.EdsClusterConfig': ['eds_config', 'service_name'],
  'envoy.config.cluster.v3.Cluster.CommonLbConfig': ['healthy_panic_threshold', 'update_merge_window'],
  'envoy.config.cluster.v3.CircuitBreakers': ['thresholds'],
  'envoy.config.cluster.v3.CircuitBreakers.Thresholds': [
    'priority',
    'max_connections',
    'max_pending_requests',
    'max_requests',
    'max_retries',
  ],
  'envoy.config.cluster.v3.OutlierDetection': [
    'consecutive_5xx',
    'interval',
    'base_ejection_time',
    'max_ejection_time',
    'max_ejection_percent',
    'enforcing_success_rate',
  ],
  'envoy.config.core.v3.RuntimeDouble': ['default_value', 'runtime_key'],
  'envoy.config.core.v3.ConfigSource': [
    'ads',
    'api_config_source',
    'initial_fetch_timeout',
    'resource_api_version',
  ],
  'envoy.config.core.v3.ApiConfigSource': [
    'api_type',
    'transport_api_version',
    'set_node_on_first_message_only',
    'grpc_services',
  ],
  'envoy.config.core.v3.GrpcService': ['envoy_grpc'],
  'envoy.config.core.v3.GrpcService.EnvoyGrpc': ['cluster_name', 'retry_policy'],
  'envoy.config.core.v3.RetryPolicy': ['retry_back_off'],
  'envoy.config.core.v3.BackoffStrategy': ['base_interval', 'max_interval'],
  'envoy.config.core.v3.AggregatedConfigSource': [],
  'envoy.type.v3.Percent': ['value'],
  'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': [
    'common_http_protocol_options',
    'explicit_http_config',
  ],
  'envoy.extensions.upstreams.http.v3.HttpProtocolOptions.ExplicitHttpConfig': ['http_protocol_options'],
  'envoy.config.core.v3.HttpProtocolOptions': ['idle_timeout'],
  'envoy.config.core.v3.Http1ProtocolOptions': [],

  // listeners
  'envoy.config.listener.v3.Listener': [
    'name',
    'address',
    'filter_chains',
    'enable_reuse_port',
    'api_listener',
  ],
  'envoy.config.listener.v3.ApiListener': ['api_listener'],
  'envoy.config.listener.v3.FilterChain': ['filters'],
  'envoy.config.listener.v3.Filter': ['name', 'typed_config'],
  'envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager': [
    'stat_prefix',
    'rds',
    'route_config',
    'http_filters',
    'stream_idle_timeout',
    'local_reply_config',
  ],
  'envoy.extensions.filters.network.http_connection_manager.v3.Rds': ['config_source', 'route_config_name'],
  'envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter': ['name', 'typed_config'],
  'envoy.extensions.filters.network.http_connection_manager.v3.LocalReplyConfig': ['mappers'],
  'envoy.extensions.filters.network.http_connection_manager.v3.ResponseMapper': [
    'filter',
    'status_code',
    'body',
    'headers_to_add',
  ],
  'envoy.extensions.filters.http.router.v3.Router': [],
  'envoy.config.accesslog.v3.AccessLogFilter': ['response_flag_filter'],
  'envoy.config.accesslog.v3.ResponseFlagFilter': ['flags'],
  'envoy.config.core.v3.DataSource': ['inline_string'],
  'envoy.config.core.v3.HeaderValueOption': ['header', 'append_action'],
  'envoy.config.core.v3.HeaderValue': ['key', 'value'],

  // routes
  'envoy.config.route.v3.RouteConfiguration': ['name', 'virtual_hosts', 'validate_clusters'],
  'envoy.config.route.v3.VirtualHost': ['name', 'domains', 'routes'],
  'envoy.config.route.v3.Route': ['match', 'route'],
  'envoy.config.route.v3.RouteMatch': ['prefix'],
  'envoy.config.route.v3.RouteAction': ['cluster', 'timeout', 'retry_policy'],
  'envoy.config.route.v3.RetryPolicy': [
    'retry_on',
    'num_retries',
    'retry_back_off',
    'retry_host_predicate',
    'host_selection_retry_max_attempts',
  ],
  'envoy.config.route.v3.RetryPolicy.RetryBackOff': ['base_interval', 'max_interval'],
  'envoy.config.route.v3.RetryPolicy.RetryHostPredicate': ['name', 'typed_config'],
  'envoy.extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate': [],

  // well-known types
  'google.protobuf.Any': ['type_url', 'value'],
  'google.protobuf.Duration': ['seconds', 'nanos'],
  'google.protobuf.BoolValue': ['value'],
  'google.protobuf.UInt32Value': ['value'],
};
