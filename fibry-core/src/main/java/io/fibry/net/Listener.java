package io.fibry.net;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.Exitable;
import io.fibry.FailurePolicy;
import io.fibry.Strategy;
import io.fibry.block.ForwardingGroup;
import io.fibry.block.Throwables;
import io.fibry.mailbox.Mailbox;
import io.fibry.spi.BlockBuilder;
import io.fibry.spi.MultiStepMessage;
import io.fibry.text.Lines;
import io.fibry.time.Scheduler;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.function.Supplier;
import javax.net.ssl.SSLEngine;
import org.slf4j.Logger;

/**
 * Listens on a port and has a {@link Conversation} with each client, on an actor of its own. One
 * fiber accepts, and takes a permit before each client.
 *
 * <p>Its name, its end and its place in the scope are those of the main actor. The last act of that
 * actor is {@link #drain}: conversations may finish within the drain limit, then their sockets are
 * closed and their actors killed.
 */
abstract class Listener<B extends Exitable> extends ForwardingGroup<B> {

  /** The conversation with one client: the only message of its actor. */
  interface Conversation extends MultiStepMessage {
    void converse() throws Exception;

    ClientSocket socket();

    @Override
    default Object currentStep() {
      return socket().step.currentStep();
    }

    @Override
    default long completedSteps() {
      return socket().step.completedSteps();
    }
  }

  private static final Duration GRACE = Duration.ofSeconds(1); // for the accepting fiber

  private final ActorBuilder<Object> builder;
  final Scheduler clock;
  private final ListenerLimits limits;
  private final Optional<Supplier<SSLEngine>> engines; // of TLS
  private final Logger log;
  private final ListenerSocket serverSocket;
  private final Exitable mainActor;
  private final Semaphore permits;
  // added by the accepting fiber, removed by their actors
  private final Set<Client> clients = new ConcurrentSkipListSet<>(Comparator.comparingLong(client -> client.number));
  private final LimitChecker check;
  private final Thread accepting;
  private final LogThrottle clientErrorThrottle;
  // by the last client, or the limit
  private final CountDownLatch drained = new CountDownLatch(1);
  private long number; // of clients; of the accepting fiber

  @SuppressWarnings("unchecked") // any builder will do
  Listener(ActorBuilder<?> builder, int port, ListenerLimits limits, Optional<Supplier<SSLEngine>> engines,
      Logger log) {
    this.builder = ((ActorBuilder<Object>) builder).mailbox(Mailbox.unbounded());
    this.clock = BlockBuilder.of(builder).scheduler();
    this.limits = limits;
    this.engines = engines;
    this.log = log;
    this.clientErrorThrottle = new LogThrottle(clock);
    this.permits = new Semaphore(limits.connections());
    this.check = new LimitChecker(clock, limits.period(), clients, this::check);
    this.serverSocket =
        new ListenerSocket(new InetSocketAddress(limits.address(), ListenerLimits.port(port)), clock, log);
    try {
      this.mainActor =
          BlockBuilder.of(this.builder.strategy(Strategy.FIBER).onFailure(FailurePolicy.resume())).closesFirst()
              .newSink();
    } catch (Throwable refused) {
      serverSocket.shut();
      throw refused;
    }
    mainActor.closeOnExit(this::drain);
    // also if the main actor was cut off
    mainActor.onExit().whenComplete((reason, none) -> drained.countDown());
    this.accepting = Thread.ofVirtual().name(mainActor.name() + "/accept").inheritInheritableThreadLocals(false)
        .unstarted(this::accept);
  }

  @SuppressWarnings("unchecked") // the listener is a B
  final B start() {
    accepting.start();
    return (B) this;
  }

  public final int port() {
    return serverSocket.address.getPort();
  }

  /** Makes a conversation; the builder is named after the client. */
  abstract Conversation conversation(ClientSocket socket, ActorBuilder<Object> builder);

  private void accept() {
    try {
      while (true) {
        permits.acquireUninterruptibly();
        var accepted = serverSocket.next(this);
        if (accepted == null) return;
        begin(accepted);
      }
    } catch (Throwable broken) {
      log.error("{} can no longer accept clients and ends", this, broken);
    } finally {
      if (!isStopping()) sendPoisonPill();
    }
  }

  private void begin(Socket accepted) {
    Client client = null;
    try {
      client = new Client(new ClientSocket(accepted, clock, limits, engines), ++number);
      clients.add(client);
      check.begin();
      client.begin();
      serverSocket.succeeded();
    } catch (IllegalStateException closed) {
      // the scope takes no more actors, and will end this listener
      abandon(accepted, client);
      stopAccepting();
    } catch (Throwable failure) {
      abandon(accepted, client);
      serverSocket.failed(this, "begin a conversation", failure);
    }
  }

  private void abandon(Socket accepted, Client client) {
    if (client != null) client.end();
    else permits.release();
    try {
      accepted.close();
    } catch (IOException closedAnyway) {}
  }

  private final class Client {
    private final ClientSocket socket;
    private final Conversation conversation;
    private final Actor<Conversation> actor;
    private final long number;
    private Thread thread; // in the conversation; each thread looks for itself only
    private boolean freed; // the permit; under the monitor
    private Throwable failure; // of the actor

    Client(ClientSocket socket, long number) {
      this.socket = socket;
      this.number = number;
      var part =
          BlockBuilder.of(builder).name().isEmpty() ? builder : BlockBuilder.of(builder).child(Long.toString(number));
      this.conversation = conversation(socket, part);
      this.actor = part.newActor(this::run);
    }

    void begin() {
      actor.closeOnExit(this::end);
      if (!isStopping()) actor.sendMessage(conversation);
      actor.sendPoisonPill();
    }

    private void run(Conversation conversation) throws Exception {
      // a failure policy tries again, but the client is gone
      if (failure != null) throw Throwables.<Exception>sneakyThrow(failure);
      thread = Thread.currentThread();
      socket.bindTo(thread, actor);
      try {
        socket.begin();
        conversation.converse();
        socket.step.endLast();
      } catch (Throwable thrown) {
        if (!socket.isClientError(thrown)) {
          failure = thrown;
          throw thrown;
        }
        socket.step.endLast();
        logClientError(thrown);
      } finally {
        thread = null;
        socket.close();
        free();
      }
    }

    /** The last act of the actor, or of the fiber that failed to begin. */
    private void end() {
      socket.close();
      free();
      clients.remove(this);
      if (isStopping() && clients.isEmpty()) drained.countDown();
    }

    private void free() {
      synchronized (this) {
        if (freed) return;
        freed = true;
      }
      permits.release();
    }

    private void cut(String how) {
      socket.cutOff("the server " + how + ", and " + socket + " was cut off", false);
      actor.kill();
    }
  }

  /** No failure of the handler, and perhaps one of thousands. */
  private void logClientError(Throwable failure) {
    long faults = isStopping() ? 0 : clientErrorThrottle.count();
    if (faults > 0) log.info(
        "{}: {} conversations were ended by their clients or by a limit since the last line, which comes at most once "
            + "a minute; the last: {}",
        this, faults, Lines.message(failure));
    else log.debug("{}: a conversation was ended by its client or by a limit", this, failure);
  }

  /** No lambda: without memory to link it at the first check, no later check would work. */
  private void check(long now) {
    for (var client : clients) client.socket.check(now);
  }

  final List<Conversation> conversations() {
    return clients.stream().filter(client -> !client.socket.isClosed()).map(client -> client.conversation).toList();
  }

  // ---- the end

  private boolean isStopping() {
    return serverSocket.isShut();
  }

  private void stopAccepting() {
    if (shut()) for (var client : clients) client.socket.beginShutdown();
  }

  /** Returns false if it was shut already. */
  private boolean shut() {
    if (isStopping()) return false;
    serverSocket.shut();
    permits.release(); // the fiber may wait for one
    return true;
  }

  @Override
  protected final void drain() {
    stopAccepting();
    awaitClients();
    cutClients();
    awaitAccepting();
    cutClients(); // a client that was accepted just before
    check.stop();
  }

  private void cutClients() {
    for (var client : clients) client.cut("has ended");
    for (var client : clients) if (!mainActor.onExit().isDone()) awaitEnd(client.actor);
  }

  private void awaitClients() {
    if (clients.isEmpty()) return;
    var limit = clock.schedule(limits.drain(), drained::countDown);
    try {
      if (!clients.isEmpty()) drained.await();
    } catch (InterruptedException killedOrScopeLimit) {} finally {
      limit.cancel();
    }
  }

  /** On CALLER the fiber may be in a conversation that ignores its end. */
  private void awaitAccepting() {
    if (accepting.getState() == Thread.State.NEW) return;
    try {
      accepting.join(GRACE);
    } catch (InterruptedException endsLater) {}
  }

  @Override
  public final void sendPoisonPill() {
    stopAccepting();
    mainActor.sendPoisonPill();
  }

  @Override
  public final void askExit() {
    stopAccepting();
    for (var client : clients) requestEnd(client.socket);
    mainActor.askExit();
  }

  void requestEnd(ClientSocket socket) {
    socket.endInput();
  }

  @Override
  public final void kill() {
    shut(); // clients are not told
    drained.countDown();
    for (var client : clients) client.cut("was killed");
    mainActor.kill();
  }

  @Override
  protected final void refuseCycle() {
    var own = ownClient();
    if (own != null) own.actor.waitForExit(Duration.ZERO);
  }

  private Client ownClient() {
    var current = Thread.currentThread();
    for (var client : clients) if (client.thread == current) return client;
    return null;
  }

  @Override
  protected Exitable target() {
    return mainActor;
  }

  @Override
  protected final boolean isInMember() {
    return ownClient() != null;
  }

  @Override
  public String toString() {
    return "'" + name() + "' on " + serverSocket.address;
  }
}
