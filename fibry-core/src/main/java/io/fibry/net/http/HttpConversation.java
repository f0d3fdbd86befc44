package io.fibry.net.http;

import io.fibry.ActorBuilder;
import io.fibry.ContextPropagator.StepObservation;
import io.fibry.block.Throwables;
import io.fibry.net.ErrorBody;
import io.fibry.net.HttpException;
import io.fibry.net.HttpServer.Outcome;
import io.fibry.net.http.HttpStatus.RequestRefusedException;
import io.fibry.net.socket.ClientInput;
import io.fibry.net.socket.ClientOutput;
import io.fibry.net.socket.ClientSocket;
import io.fibry.net.socket.ExchangePermit;
import io.fibry.net.socket.Listener;
import io.fibry.text.Durations;
import io.fibry.text.Lines;
import java.io.EOFException;
import java.io.IOException;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CancellationException;

/**
 * The conversation with one HTTP client, which handles the client's requests one after the other.
 * Used by the client's actor.
 */
record HttpConversation(HttpConversation.Server server, RouteTable routes, HttpSettings settings, ClientSocket socket,
    ClientInput in, ClientOutput out, ActorBuilder<Object> builder)
    implements Listener.Conversation {

  interface Server extends ServerExchange.HandlerFailureLog {
    /** Called when the user's code for the body of an error has failed. */
    void logErrorBodyFailure(Throwable failure);

    /** Called when the user's code for the headers of all responses has failed. */
    void logResponseHeadersFailure(Throwable failure);

    /** Refuses a request for another host, unless the route is a probe. The route may be null. */
    void checkHost(RequestHead head, RouteTable.RouteEntry route) throws RequestRefusedException;

    /** Returns a permit for an exchange, or null if too many exchanges are running. */
    ExchangePermit tryAdmit();

    /**
     * Begins an exchange at the context propagators of the server. Allocates nothing if there are
     * none.
     *
     * @param route null if no route takes the request
     */
    StepObservation beginStep(RequestHead head, RouteTable.RouteEntry route, ClientSocket client);

    /**
     * Called when an exchange is over or has become a WebSocket.
     *
     * @param head if the request was refused, as far as it was read
     * @param route null if no route takes the request
     * @param startNanos {@code System.nanoTime()} at the first byte of the request
     */
    void exchangeEnded(RequestHead head, RouteTable.RouteEntry route, ServerResponse response, ClientSocket client,
        StepObservation observation, long startNanos);

    /** Called when a WebSocket of this route is over. */
    void webSocketEnded(RouteTable.RouteEntry route);
  }

  // max time for which a closing connection continues to read
  private static final Duration LINGER = Duration.ofSeconds(1);
  // max bytes that a closing connection reads in this time
  private static final int MAX_LINGERED = 1 << 20;

  @Override
  public void converse() throws IOException {
    socket.step.beginUncounted(null); // no step until the first exchange
    try {
      while (handleExchange()) {
      }
    } catch (EOFException withinHead) {} finally {
      in.releaseBuffer();
    }
  }

  /** Handles one exchange. Returns whether another exchange may follow. */
  private boolean handleExchange() throws IOException {
    socket.limitEachRead(settings.limits().idleLimit());
    int firstByte = awaitRequest();
    if (firstByte < 0) return false;
    long startNanos = System.nanoTime();
    socket.shutdown.beginHead();
    socket.limitAllReads(settings.headerLimit());
    var head = new RequestHead(in, settings);
    RouteTable.RouteEntry entry;
    try {
      head.read(firstByte, settings);
      entry = routes.find(head.method, head.target.path());
      server.checkHost(head, entry);
      socket.shutdown.endHead();
    } catch (RequestRefusedException refusal) {
      var response = new ServerResponse(out, true, false, false, false);
      useErrorBodyForRefused(head, response);
      try {
        addHeaders(head, response);
        refuse(response, refusal);
      } finally {
        server.exchangeEnded(head, null, response, socket, StepObservation.NONE, startNanos);
      }
      linger();
      return false;
    }
    var response =
        new ServerResponse(out, head.isHttp11, head.method.equals("HEAD"), head.keepsAlive, head.expectsContinue);
    var body = response.forRequest(new RequestBody(in, head, settings, response));
    useErrorBody(response, entry == null ? routes.settings : entry.settings(), Optional.of(head.target.path()));
    var observation = server.beginStep(head, entry, socket);
    response.onUpgraded(() -> end(head, entry, response, observation, startNanos));
    try {
      respond(entry, head, body, response);
    } finally {
      try (observation) {
        if (response.isUpgraded()) server.webSocketEnded(entry);
        else end(head, entry, response, observation, startNanos);
      }
    }
    if (response.keepsAlive() && readRest(body)) return true;
    body.forbidReading();
    if (!body.isFullyRead() || hasMore()) linger();
    return false;
  }

  /** Called when a well-formed exchange is over, or has become a WebSocket. */
  private void end(RequestHead head, RouteTable.RouteEntry entry, ServerResponse response, StepObservation observation,
      long startNanos) {
    if (observation != StepObservation.NONE)
      observation.ended(String.valueOf(response.code()), Optional.ofNullable(response.exchangeFailure));
    server.exchangeEnded(head, entry, response, socket, observation, startNanos);
  }

  /**
   * Responds to a request whose head is well-formed.
   *
   * @param entry null if no route takes the request
   */
  private void respond(RouteTable.RouteEntry entry, RequestHead head, RequestBody body, ServerResponse response)
      throws IOException {
    addHeaders(head, response);
    boolean isProbe = entry != null && entry.kind() == RouteTable.RouteKind.PROBE;
    var permit = entry == null || isProbe ? null : server.tryAdmit();
    if (entry == null) refuse(response, head, routes.allowedMethods(head.target.path()));
    else if (permit == null && !isProbe) {
      response.closeConnectionAfter();
      response.wasServerFull = true;
      refuse(response, 503);
    } else {
      in.permit = permit;
      response.permit = permit;
      try {
        respond(entry,
            new ServerExchange(builder, socket, head, body, response, entry.pattern(), entry.settings(), server),
            response, body);
      } finally {
        response.releasePermit();
        in.permit = null;
      }
    }
  }

  private void respond(RouteTable.RouteEntry entry, ServerExchange exchange, ServerResponse response, RequestBody body)
      throws IOException {
    socket.step.begin(exchange);
    try {
      handle(entry.handler(), exchange, response, body);
      socket.step.endLast(); // an exchange that became a WebSocket has ended already
    } catch (Throwable failure) {
      if (socket.isClientError(failure)) socket.step.endLast();
      else socket.step.fail(); // the conversation counts as failed
      throw failure;
    } finally {
      exchange.end();
    }
  }

  /** Uses the error body of the refused request's route, if its path was read. */
  private void useErrorBodyForRefused(RequestHead head, ServerResponse response) {
    var path = Optional.ofNullable(head.readTarget(settings.engines().isPresent())).map(RequestTarget::path);
    var entry = path.map(it -> routes.find(head.readMethod(), it));
    useErrorBody(response, entry.map(RouteTable.RouteEntry::settings).orElse(routes.settings), path);
  }

  private void useErrorBody(ServerResponse response, RouteSettings routeSettings, Optional<String> path) {
    routeSettings.errorBody().ifPresent(errorBody -> response.setErrorContent((code, text) -> {
      try {
        return Objects.requireNonNull(
            errorBody.contentOf(new ErrorBody.ErrorResponse(code, HttpStatus.reason(code), text, path)),
            "the content of an error");
      } catch (Throwable failure) {
        if (failure instanceof VirtualMachineError error && !(failure instanceof StackOverflowError)) throw error;
        server.logErrorBodyFailure(failure);
        return null;
      }
    }));
  }

  /** Adds the headers that the user's code has for each response, or none if this code fails. */
  private void addHeaders(RequestHead head, ServerResponse response) {
    if (settings.responseHeaders().isEmpty()) return;
    socket.step.beginUncounted("the headers of a response"); // shown if the function waits
    try {
      var headers = settings.responseHeaders().get().handle(new ReceivedHead(head, settings.engines().isPresent()));
      response.headers.add(Objects.requireNonNull(headers, "the headers of a response"));
    } catch (Throwable failure) {
      if (failure instanceof VirtualMachineError error && !(failure instanceof StackOverflowError)) {
        response.reset(500); // no response is sent, and the exchange does not count as successful
        response.exchangeFailure = error;
        throw error;
      }
      server.logResponseHeadersFailure(failure);
    } finally {
      socket.stopTracking();
      ServerExchange.clearInterrupt();
    }
  }

  /**
   * Returns whether bytes have arrived that were not read. With such bytes a close would be a
   * reset, and could destroy the response.
   */
  private boolean hasMore() {
    try {
      return in.hasUnread();
    } catch (IOException failure) {
      return false;
    }
  }

  private static boolean readRest(RequestBody body) throws IOException {
    try {
      return body.readRest();
    } catch (RequestRefusedException malformed) {
      return false; // the start of the next request is unknown
    }
  }

  /**
   * Returns the first byte of a request. Returns -1 if the connection ends, or the server stops,
   * before a request; neither counts as a failure.
   */
  private int awaitRequest() throws IOException {
    try {
      return socket.shutdown.beginIdle() ? in.read() : -1;
    } catch (IOException failure) {
      if (socket.isClientError(failure)) return -1;
      throw failure;
    } finally {
      socket.shutdown.endIdle();
    }
  }

  private void handle(RouteTable.RouteHandler handler, ServerExchange exchange, ServerResponse response,
      RequestBody body) throws IOException {
    try {
      exchange.beginTimeLimit();
      handler.handle(exchange);
      exchange.finish();
    } catch (Throwable failure) {
      exchange.endHandling();
      response.exchangeFailure = failure;
      fail(failure, exchange, response, body);
    }
  }

  private void fail(Throwable failure, ServerExchange exchange, ServerResponse response, RequestBody body)
      throws IOException {
    if (socket.isActorEnding()) { // no response is sent, and the exchange has failed
      if (response.endsWithConnection()) socket.reset(socket + " was cut off, because its response broke off", false);
      // the client has not caused this failure: the handler continued after the kill, and could not
      // write to the closed socket
      if (socket.isClientError(failure)) throw new IOException("the server ended before the response was sent");
      throw Throwables.<IOException>sneakyThrow(failure);
    }
    if (response.isBroken() || socket.isClosed()) {
      response.closeConnectionAfter();
      if (!socket.isClientError(failure)
          && !(failure instanceof InterruptedException || failure instanceof CancellationException))
        server.log(failure, exchange, "not at all, because the client had disconnected");
      else response.exchangeFailure = null;
    } else if (body.failure() != null) { // the body could not be read, and the handler has not caught this failure
      response.exchangeFailure = null;
      response.closeConnectionAfter();
      if (response.isSent() || !(body.failure() instanceof RequestRefusedException refusal)) socket.close();
      else {
        response.discard();
        refuse(response, refusal);
      }
    } else if (response.isSent()) {
      server.log(failure, exchange, "by closing the connection, because the response had begun");
      response.closeConnectionAfter();
      if (response.endsWithConnection()) socket.reset(socket + " was cut off, because its response broke off", false);
      socket.close();
    } else try {
      refuse(response, failure, exchange);
    } finally {
      if (response.code() < 500) response.exchangeFailure = null;
    }
    if (failure instanceof VirtualMachineError error && !(failure instanceof StackOverflowError)) {
      socket.close();
      throw error;
    }
  }

  private void refuse(ServerResponse response, Throwable failure, ServerExchange exchange) throws IOException {
    boolean hasResponse;
    response.discard();
    try {
      hasResponse = RouteTable.respondTo(failure, exchange);
    } catch (Exception ruleFailure) { // a rule of the routes has failed
      ruleFailure.addSuppressed(failure);
      response.exchangeFailure = ruleFailure; // the log names this failure
      response.discard();
      refuseByKind(response, ruleFailure, exchange);
      return;
    }
    if (hasResponse) {
      if (response.code() >= 500 && isFailure(statusWithoutRule(failure)))
        server.log(failure, exchange, String.valueOf(response.code()));
      response.finish();
    } else if (failure instanceof HttpException thrown) {
      if (isFailure(thrown.status())) server.log(failure, exchange, String.valueOf(thrown.status()));
      response.writeHandlerError(thrown.status(), thrown.getMessage());
    } else refuseByKind(response, failure, exchange);
  }

  private void refuseByKind(ServerResponse response, Throwable failure, ServerExchange exchange) throws IOException {
    if (exchange.isTimeLimitPassed()) {
      var limit = "the time limit of " + Durations.text(exchange.settings.timeLimit().orElseThrow());
      // not 503 with Retry-After, which invites clients to repeat the request: its work may be done
      server.log(failure, exchange, "504, because the handler took longer than " + limit);
      refuse(response, 504, HttpStatus.codeAndReason(504) + ": " + exchange + " took longer than " + limit
          + "; the log has it as failure " + exchange.failureNumber() + "\n");
      return;
    }
    int status = statusByKind(failure);
    if (!isFailure(status)) {
      refuse(response, status);
      return;
    }
    server.log(failure, exchange, String.valueOf(status));
    response.writeError(status, (status == 500 ? "Internal server error" : HttpStatus.codeAndReason(status)) + " "
        + exchange.failureNumber() + "\n");
  }

  /**
   * Returns whether an exchange with this status has failed, and is logged. A refusal (503) is not
   * logged, because a full server would have a line for each request that it refuses.
   */
  private static boolean isFailure(int status) {
    return Outcome.of(status) == Outcome.SERVER_ERROR;
  }

  private static int statusWithoutRule(Throwable failure) {
    return failure instanceof HttpException thrown ? thrown.status() : statusByKind(failure);
  }

  /** Returns 500 for a failure of the server. */
  private static int statusByKind(Throwable failure) {
    return switch (failure) {
      case RequestRefusedException refusal -> refusal.code; // thrown by a file route
      case HttpException thrown -> 500; // thrown by a rule of the routes
      default -> HttpException.statusOf(failure);
    };
  }

  private static void refuse(ServerResponse response, RequestHead head, String allowed) throws IOException {
    if (allowed.isEmpty()) refuse(response, 404);
    else if (head.method.equals("OPTIONS")) response.writeError(204, "", "Allow", allowed);
    else response.writeError(405, HttpStatus.codeAndReason(405) + "\n", "Allow", allowed);
  }

  private static void refuse(ServerResponse response, int code) throws IOException {
    refuse(response, code, HttpStatus.codeAndReason(code) + "\n");
  }

  /** Refuses a request that could not be read; its client gets the reason. */
  private static void refuse(ServerResponse response, RequestRefusedException refusal) throws IOException {
    refuse(response, refusal.code, HttpStatus.codeAndReason(refusal.code) + ": " + Lines.message(refusal) + "\n");
  }

  private static void refuse(ServerResponse response, int code, String text) throws IOException {
    switch (code) {
      case 503 -> response.writeError(code, text, RouteTable.RETRY_AFTER, RouteTable.RETRY_SECONDS);
      case 405 -> response.writeError(code, text, "Allow", "GET, HEAD, POST, PUT, DELETE, PATCH, OPTIONS");
      default -> response.writeError(code, text);
    }
  }

  /**
   * Reads a little more before the connection is closed, because a close while the client is
   * sending could destroy the response.
   */
  private void linger() {
    if (socket.isClosed()) return;
    try {
      socket.endOutput();
      socket.limitAllReads(LINGER);
      var ignored = new byte[ClientInput.LARGE_BUFFER];
      for (int count, total = 0; total < MAX_LINGERED && (count = in.read(ignored, 0, ignored.length)) >= 0;)
        total += count;
    } catch (IOException longEnough) {}
  }

  @Override
  public String toString() {
    return socket.toString();
  }
}
