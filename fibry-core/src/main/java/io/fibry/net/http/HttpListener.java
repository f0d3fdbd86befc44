package io.fibry.net.http;

import io.fibry.ActorBuilder;
import io.fibry.ContextPropagator.StepObservation;
import io.fibry.block.FailureStackThrottle;
import io.fibry.block.LossLog;
import io.fibry.net.AccessLogEntry;
import io.fibry.net.HttpServer;
import io.fibry.net.http.HttpStatus.RequestRefusedException;
import io.fibry.net.socket.ClientInput;
import io.fibry.net.socket.ClientOutput;
import io.fibry.net.socket.ClientSocket;
import io.fibry.net.socket.ExchangePermit;
import io.fibry.net.socket.Listener;
import io.fibry.net.socket.LogThrottle;
import io.fibry.spi.BlockBuilder;
import io.fibry.text.Lines;
import io.fibry.text.SafeLogger;
import java.security.Principal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.RejectedExecutionException;
import org.slf4j.Logger;

/** A listener for HTTP connections. */
public final class HttpListener extends Listener<HttpServer> implements HttpServer, HttpConversation.Server {
  private static final Logger LOG = SafeLogger.of(HttpServer.class);

  private final BlockBuilder<?> blockBuilder;
  private final FailureStackThrottle stackThrottle = new FailureStackThrottle();
  private final LogThrottle foreignHostThrottle = new LogThrottle(clock);
  private final LogThrottle foreignOriginThrottle = new LogThrottle(clock);
  private final RouteTable routes;
  private final HttpSettings settings;
  private final ExchangePermit.PermitPool permits;
  // one for each route; filled by the constructor, then only read
  private final Map<RouteTable.RouteEntry, RouteCounts> counts = new IdentityHashMap<>();
  private final RouteCounts unrouted = new RouteCounts();
  private final RejectedExecutionException serverFull; // shown for the exchanges that were refused for this reason
  private final LossLog refusals = new LossLog(clock, onExit(), new RefusalWriter());
  private final List<ListenerHook> exchangeHooks = new CopyOnWriteArrayList<>();

  private HttpListener(ActorBuilder<?> builder, int port, RouteTable routes, HttpSettings settings) {
    super(builder, port, settings.limits(), settings.engines(), LOG);
    this.blockBuilder = BlockBuilder.of(builder);
    this.routes = routes.withSettingsInEntries();
    this.settings = settings;
    this.permits = new ExchangePermit.PermitPool(settings.maxExchanges(), clock::nanoTime);
    this.serverFull = new RejectedExecutionException(
        "the server was full: at most " + Lines.count(settings.maxExchanges(), "exchange") + " may be at work, and "
            + 2L * settings.maxExchanges() + " together with those that wait for their clients");
    serverFull.setStackTrace(new StackTraceElement[0]); // shared by all these exchanges
    for (var entry : this.routes.entries()) counts.put(entry, new RouteCounts());
    onExit().whenComplete((reason, failure) -> counts.values().forEach(RouteCounts::forgetFailures));
  }

  public static HttpServer open(ActorBuilder<?> builder, int port, RouteTable routes, HttpSettings settings) {
    return new HttpListener(builder, port, routes, settings).start();
  }

  @Override
  public ExchangePermit tryAdmit() {
    return permits.tryAdmit();
  }

  @Override
  public void log(Throwable failure, ServerExchange exchange, String outcome) {
    var failureNumber = exchange.failureNumber();
    exchange.isFailureLogged = true;
    var exchangeText = blockBuilder.mayShowMessages() ? exchange.toString() : exchange.typeName();
    if (stackThrottle.isDue(failure, exchange.route())) { // a failure of a timer has no frame of the handler
      var actor = FailureStackThrottle.actorWithStack(failure, "failure " + failureNumber);
      if (actor.isEmpty())
        LOG.error("{}: failure {} of {} was answered {}", this, failureNumber, exchangeText, outcome, failure);
      else LOG.error("{}: failure {} of {} was answered {}; the entry of {} has the stack: {}", this, failureNumber,
          exchangeText, outcome, actor.get(), blockBuilder.describe(failure));
    } else LOG.error("{}: failure {} of {} was answered {}; the same stack was logged within the last second: {}", this,
        failureNumber, exchangeText, outcome, blockBuilder.describe(failure));
  }

  @Override
  public void logErrorBodyFailure(Throwable failure) {
    if (stackThrottle.isDue(failure))
      LOG.error("{}: the error body failed, so the error was sent as a text", this, failure);
    else LOG.error("{}: the error body failed; the same stack was logged within the last second: {}", this,
        blockBuilder.describe(failure));
  }

  @Override
  public void logResponseHeadersFailure(Throwable failure) {
    if (stackThrottle.isDue(failure))
      LOG.error("{}: withResponseHeaders failed, so a response was sent without its headers", this, failure);
    else LOG.error("{}: withResponseHeaders failed; the same stack was logged within the last second: {}", this,
        blockBuilder.describe(failure));
  }

  /**
   * Refuses a request for another host. A probe may have any host, because orchestrators and load
   * balancers call a server by its IP address.
   */
  @Override
  public void checkHost(RequestHead head, RouteTable.RouteEntry route) throws RequestRefusedException {
    boolean isProbe = route != null && route.kind() == RouteTable.RouteKind.PROBE;
    if (isProbe || settings.hosts().isAllowed(head.host)) return;
    logForeignHost(head.host);
    throw new RequestRefusedException(421,
        head.host == null ? "no Host header; this server requires it" : "a Host header of another server");
  }

  private void logForeignHost(String host) {
    long count = foreignHostThrottle.countEvent();
    if (count == 0) return;
    var hostText = host == null ? "no Host header"
        : blockBuilder.mayShowMessages() ? "the Host header '" + Lines.line(host) + "'" : "another Host header";
    var remedy = host == null ? "" : "add their name or IP address for this server to withHosts(..), or ";
    LOG.info("{}: {} refused with 421 since the last such line, which comes at most once a minute; the last had {}; "
        + "if its clients are welcome, {}make a health check a probe(..) route, which has no such check", this,
        Lines.count(count, "request"), hostText, remedy);
  }

  @Override
  public void logForeignOrigin(ServerExchange exchange, String remedy) {
    long count = foreignOriginThrottle.countEvent();
    if (count == 0) return;
    var originText = blockBuilder.mayShowMessages()
        ? "a page of '" + header(exchange, "origin") + "' called " + exchange.scheme() + "://"
            + header(exchange, "host")
        : "it was for " + exchange.typeName();
    LOG.info(
        "{}: {} of foreign pages refused with 403 since the last such line, which comes at most once a minute; the "
            + "last: {}; if the page is welcome, {}",
        this, Lines.count(count, "WebSocket"), originText, remedy);
  }

  private static String header(ServerExchange exchange, String name) {
    return Lines.line(exchange.header(name).orElse(""));
  }

  @Override
  public void logCutOff(Throwable failure) {
    logClientError(failure);
  }

  @Override
  public StepObservation beginStep(RequestHead head, RouteTable.RouteEntry route, ClientSocket client) {
    return blockBuilder.hasPropagators()
        ? blockBuilder.beginStep(new ExchangeStep(head, route,
            settings.originOf(client.remoteAddress(), head::header)))
        : StepObservation.NONE;
  }

  @Override
  public void exchangeEnded(RequestHead head, RouteTable.RouteEntry route, ServerResponse response, ClientSocket client,
      StepObservation observation, long startNanos) {
    long nanos = System.nanoTime() - startNanos;
    var routeCounts = route == null ? unrouted : counts.get(route);
    var cause = response.wasServerFull ? serverFull : response.exchangeFailure;
    if (cause != null && response.code() >= 500) keepFailure(routeCounts, response, cause);
    routeCounts.add(response.code(), nanos); // a reader that sees the count then finds the failure
    if (response.wasServerFull) refusals.countLoss();
    if (response.isUpgraded()) routeCounts.webSocketOpened();
    if (!exchangeHooks.isEmpty()) callHooks(new EndedExchange(route == null ? "" : route.pattern().text(),
        head.readMethod(), settings.originOf(client.remoteAddress(), head::header).scheme(), response.code(),
        Duration.ofNanos(nanos)));
    if (settings.accessLog().isEmpty()) return;
    try {
      settings.accessLog().get().accept(logEntry(head, route, response, client, observation, nanos));
    } catch (RuntimeException failure) {
      if (stackThrottle.isDue(failure)) LOG.error("{}: the access log failed", this, failure);
    }
  }

  /** Logs the requests that the full server has refused. */
  private final class RefusalWriter implements LossLog.Writer {
    @Override
    public void begun() {
      LOG.warn("{} is full and refuses requests with 503; {}; further refusals are counted in one line a minute",
          HttpListener.this, reasonAndRemedy(load()));
    }

    /** Returns the load after the refusal, and the remedy for the limit that it has reached. */
    private static String reasonAndRemedy(ServerLoad load) {
      long maxAdmitted = 2L * load.maxExchanges();
      boolean isFullOfWaiting = load.working() < load.maxExchanges() && load.working() + load.waiting() >= maxAdmitted;
      return "now " + Lines.count(load.working(), "exchange") + (load.working() == 1 ? " is" : " are")
          + " at work (at most " + load.maxExchanges() + ") and " + load.waiting()
          + (load.waiting() == 1 ? " waits for its client" : " wait for their clients")
          + " (together at most " + maxAdmitted + "); "
          + (isFullOfWaiting
              ? "cut off slow clients earlier with withBodyLimit or withWriteLimit"
              : "find slow handlers with dump() or the dashboard")
          + ", or raise withMaxExchanges";
    }

    @Override
    public void continued(long count) {
      LOG.warn("{} was full and refused {} with 503 since the last such line, which comes once a minute",
          HttpListener.this, Lines.count(count, "more request"));
    }

    @Override
    public void ended(long totalCount) {
      LOG.info("{} has stopped refusing requests; while it was full, it refused {} with 503", HttpListener.this,
          Lines.count(totalCount, "request"));
    }
  }

  /** Keeps the failure, unless the server has ended: after a kill, exchanges end later. */
  private void keepFailure(RouteCounts routeCounts, ServerResponse response, Throwable failure) {
    routeCounts.keepFailure(response.code(), loggedFailureNumber(response), failure);
    if (onExit().isDone()) routeCounts.forgetFailures(); // the end may have missed this failure
  }

  private void callHooks(EndedExchange exchange) {
    for (var hook : exchangeHooks) try {
      hook.listener.exchangeEnded(exchange);
    } catch (RuntimeException failure) {
      if (stackThrottle.isDue(failure)) LOG.error("{}: a listener for exchanges failed", this, failure);
    }
  }

  @Override
  public ExchangeHook onExchangeEnd(ExchangeListener listener) {
    var hook = new ListenerHook(Objects.requireNonNull(listener, "listener"));
    exchangeHooks.add(hook);
    return hook;
  }

  /** A registered listener. This is not a record, because a listener may be registered twice. */
  private final class ListenerHook implements ExchangeHook {
    private final ExchangeListener listener;

    ListenerHook(ExchangeListener listener) {
      this.listener = listener;
    }

    @Override
    public void close() {
      exchangeHooks.remove(this);
    }
  }

  private AccessLogEntry logEntry(RequestHead head, RouteTable.RouteEntry route, ServerResponse response,
      ClientSocket client, StepObservation observation, long nanos) {
    var origin = settings.originOf(client.remoteAddress(), head::header);
    var target = Optional.ofNullable(head.readTarget(settings.engines().isPresent()));
    var user = Optional.ofNullable(response.exchange).flatMap(exchange -> exchange.attribute(Principal.class));
    return new AccessLogEntry(Instant.now().minusNanos(nanos), origin.address(), user.map(Principal::getName),
        head.readMethod(), target.map(RequestTarget::path).orElse(""),
        target.map(it -> it.query().text()).filter(query -> !query.isEmpty()), head.readVersion(),
        Optional.ofNullable(route).map(entry -> entry.pattern().text()), response.code(), response.bytesSent(),
        Duration.ofNanos(nanos), Optional.ofNullable(head.header("referer")),
        Optional.ofNullable(head.header("user-agent")),
        loggedFailureNumber(response), observation.traceId());
  }

  private static Optional<String> loggedFailureNumber(ServerResponse response) {
    return response.exchange instanceof ServerExchange exchange ? exchange.loggedFailureNumber() : Optional.empty();
  }

  @Override
  public void webSocketEnded(RouteTable.RouteEntry route) {
    counts.get(route).webSocketClosed();
  }

  @Override
  public List<RouteStats> stats() {
    var stats = new ArrayList<RouteStats>();
    for (var entry : routes.entries()) stats.add(counts.get(entry).stats(entry.pattern().text()));
    stats.add(unrouted.stats("")); // requests with 404 or 405, and malformed requests
    return stats;
  }

  @Override
  public List<RouteFailure> lastFailures() {
    if (onExit().isDone()) return List.of();
    var failures = new ArrayList<RouteFailure>();
    for (var entry : routes.entries())
      counts.get(entry).addFailures(entry.pattern().text(), blockBuilder.mayShowMessages(), failures);
    failures.sort(Comparator.comparing(RouteFailure::time).reversed());
    return List.copyOf(failures);
  }

  @Override
  public ServerLoad load() {
    int admitted = permits.admitted();
    int working = Math.min(permits.atWork(), admitted); // the counts may change between the two reads
    return new ServerLoad(working, admitted - working, settings.maxExchanges(), openConnections(), cutOffs());
  }

  @Override
  protected Conversation conversation(ClientSocket socket, ActorBuilder<Object> builder) {
    return new HttpConversation(this, routes, settings, socket, new ClientInput(socket), new ClientOutput(socket),
        builder);
  }

  /**
   * Does nothing, because an exchange may read its body to the end, and an idle connection has
   * ended already.
   */
  @Override
  protected void requestEnd(ClientSocket socket) {}

  @Override
  public int port() {
    return boundPort();
  }

  @Override
  public String toString() {
    return "HTTP server " + super.toString();
  }
}
