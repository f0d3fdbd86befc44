package io.fibry.net.socket;

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
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.Supplier;
import javax.net.ssl.SSLEngine;
import org.slf4j.Logger;

/**
 * Listens on a port or a file, and has a {@link Conversation} with each client, on an actor of its
 * own. One fiber accepts the clients. Before it accepts a client it takes a permit, so that the
 * number of connections is limited.
 *
 * <p>The main actor gives the listener its name, its end and its scope. When this actor ends, it
 * calls {@link #drain}, which lets conversations finish within the drain limit. After that, the
 * sockets that are still open are closed, and the actors of their clients are killed.
 *
 * @param <B> the public type of the listener
 */
public abstract class Listener<B extends Exitable> extends ForwardingGroup<B> {

  /** The conversation with one client: the only message of its actor. */
  public interface Conversation extends MultiStepMessage {
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

    @Override
    default boolean isAwaitingInput() {
      return socket().step.isAwaitingInput();
    }

    @Override
    default AutoCloseable onStepEnd(Consumer<? super Duration> listener) {
      return socket().step.onStepEnd(listener);
    }
  }

  private static final Duration GRACE = Duration.ofSeconds(1); // max time for the accepting fiber to end

  private final ActorBuilder<Object> builder;
  protected final Scheduler clock;
  private final ListenerLimits limits;
  private final Optional<Supplier<SSLEngine>> engines; // makes an engine of TLS for each connection; empty without TLS
  private final Logger log;
  private final ListenerSocket serverSocket;
  private final Exitable mainActor;
  private final Semaphore permits;
  // added by the accepting fiber, removed by the actors of the clients
  private final Set<Client> clients = new ConcurrentSkipListSet<>(Comparator.comparingLong(client -> client.number));
  private final LongAdder cutOffs = new LongAdder(); // clients that were cut off because of a limit
  private final LimitChecker limitChecker;
  private final Thread acceptFiber;
  private final LogThrottle clientErrorThrottle;
  // opened by the last client, the drain limit, or a kill
  private final CountDownLatch drained = new CountDownLatch(1);
  private long lastClientNumber; // used by the accepting fiber

  @SuppressWarnings("unchecked") // the builder may be for messages of any type
  protected Listener(ActorBuilder<?> builder, int port, ListenerLimits limits, Optional<Supplier<SSLEngine>> engines,
      Logger log) {
    this.builder = ((ActorBuilder<Object>) builder).mailbox(Mailbox.unbounded());
    this.clock = BlockBuilder.of(builder).scheduler();
    this.limits = limits;
    this.engines = engines;
    this.log = log;
    this.clientErrorThrottle = new LogThrottle(clock);
    this.permits = new Semaphore(limits.maxConnections());
    this.limitChecker = new LimitChecker(clock, limits.checkInterval(), clients, this::checkLimits);
    this.serverSocket = new ListenerSocket(limits, port, clock, log);
    try {
      this.mainActor =
          BlockBuilder.of(this.builder.strategy(Strategy.FIBER).onFailure(FailurePolicy.resume())).closesFirst()
              .newSink();
    } catch (Throwable refused) {
      serverSocket.shut();
      throw refused;
    }
    mainActor.closeOnExit(this::drain);
    // ends the wait of `drain` if the main actor is killed
    mainActor.onExit().whenComplete((reason, failure) -> drained.countDown());
    this.acceptFiber = Thread.ofVirtual().name(mainActor.name() + "/accept").inheritInheritableThreadLocals(false)
        .unstarted(this::accept);
  }

  @SuppressWarnings("unchecked") // each subclass implements B
  protected final B start() {
    acceptFiber.start();
    return (B) this;
  }

  protected final int boundPort() {
    return serverSocket.port();
  }

  /**
   * Makes the conversation with a client. If the listener has a name, the given builder has the
   * name of the client's actor.
   */
  protected abstract Conversation conversation(ClientSocket socket, ActorBuilder<Object> builder);

  private void accept() {
    try {
      while (true) {
        permits.acquireUninterruptibly();
        var transport = serverSocket.next(this);
        if (transport == null) return;
        begin(transport);
      }
    } catch (Throwable broken) {
      log.error("{} can no longer accept clients and ends", this, broken);
    } finally {
      if (!isStopping()) sendPoisonPill();
    }
  }

  private void begin(Transport transport) {
    Client client = null;
    try {
      client = new Client(new ClientSocket(transport, clock, limits, engines), ++lastClientNumber);
      clients.add(client);
      limitChecker.ensureTimer();
      client.begin();
      serverSocket.resetPause();
    } catch (IllegalStateException closed) {
      // the scope is closed to new actors, and will end this listener
      abandon(transport, client);
      stopAccepting();
    } catch (Throwable failure) {
      abandon(transport, client);
      serverSocket.pauseAfterFailure(this, "begin a conversation", failure);
    }
  }

  private void abandon(Transport transport, Client client) {
    if (client != null) client.end();
    else permits.release();
    transport.close();
  }

  private final class Client {
    private final ClientSocket socket;
    private final Conversation conversation;
    private final Actor<Conversation> actor;
    private final long number;
    // null outside of the conversation; only compared with the current thread, so not volatile
    private Thread thread;
    private boolean isPermitReleased; // guarded by the monitor
    private Throwable failure; // failure of the conversation, or null; used only by the actor

    Client(ClientSocket socket, long number) {
      this.socket = socket;
      this.number = number;
      var clientBuilder =
          BlockBuilder.of(builder).name().isEmpty() ? builder : BlockBuilder.of(builder).child(Long.toString(number));
      this.conversation = conversation(socket, clientBuilder);
      this.actor = clientBuilder.newActor(this::run);
    }

    void begin() {
      actor.closeOnExit(this::end);
      if (!isStopping()) actor.sendMessage(conversation);
      actor.sendPoisonPill();
    }

    private void run(Conversation conversation) throws Exception {
      // if the failure policy retries the message, it fails again, because the connection is closed
      // already
      if (failure != null) throw Throwables.<Exception>sneakyThrow(failure);
      thread = Thread.currentThread();
      socket.bindTo(thread, actor);
      try {
        socket.handshake();
        conversation.converse();
        socket.step.endLast();
      } catch (Throwable thrown) {
        if (!socket.isClientError(thrown)) {
          socket.step.failMessage(thrown);
          failure = thrown;
          throw thrown;
        }
        socket.step.endLast();
        logClientError(thrown);
      } finally {
        thread = null;
        socket.close();
        releasePermit();
      }
    }

    /**
     * Called when the actor ends, or by the accepting fiber if the conversation could not begin.
     */
    private void end() {
      socket.close();
      releasePermit();
      clients.remove(this);
      if (socket.wasCutOff) cutOffs.increment();
      if (isStopping() && clients.isEmpty()) drained.countDown();
    }

    private void releasePermit() {
      synchronized (this) {
        if (isPermitReleased) return;
        isPermitReleased = true;
      }
      permits.release();
    }

    private void cut(String event) {
      socket.cutOff("the server " + event + ", and " + socket + " was cut off", false);
      actor.kill();
    }
  }

  /**
   * Logs that the client or a limit has ended a conversation. Such an end does not count as a
   * failure of the handler, and may happen thousands of times.
   */
  protected final void logClientError(Throwable failure) {
    long count = isStopping() ? 0 : clientErrorThrottle.countEvent();
    if (count > 0) log.info(
        "{}: {} ended by a client or by a limit since the last such line, which comes at most once a minute; the last: "
            + "{}",
        this, Lines.count(count, "conversation"), Lines.message(failure));
    else log.debug("{}: a conversation was ended by its client or by a limit", this, failure);
  }

  /**
   * Checks the limits of all clients. Uses no lambda: if the linkage of a lambda fails once, for
   * lack of memory, it fails at every later check, too.
   */
  private void checkLimits(long now) {
    for (var client : clients) client.socket.checkLimits(now);
  }

  /** Returns the number of open connections. */
  protected final int openConnections() {
    return clients.size();
  }

  /** Returns how many clients were cut off because of a limit. */
  protected final long cutOffs() {
    return cutOffs.sum();
  }

  public final List<Conversation> conversations() {
    return clients.stream().filter(client -> !client.socket.isClosed()).map(client -> client.conversation).toList();
  }

  // ---- the end

  private boolean isStopping() {
    return serverSocket.isShut();
  }

  private void stopAccepting() {
    if (shut()) for (var client : clients) client.socket.beginShutdown();
  }

  /** Closes the server socket. Returns false if it was closed already. */
  private boolean shut() {
    if (isStopping()) return false;
    serverSocket.shut();
    permits.release(); // wakes the accepting fiber, which may wait for a permit
    return true;
  }

  @Override
  protected final void drain() {
    stopAccepting();
    awaitClients();
    cutClients();
    awaitAccepting();
    cutClients(); // again, because clients may have been accepted since the first call
    limitChecker.stop();
  }

  private void cutClients() {
    for (var client : clients) client.cut("has ended");
    for (var client : clients) if (!mainActor.onExit().isDone()) awaitEnd(client.actor);
  }

  private void awaitClients() {
    if (clients.isEmpty()) return;
    var limit = clock.schedule(limits.drainLimit(), drained::countDown);
    try {
      if (!clients.isEmpty()) drained.await();
    } catch (InterruptedException killedOrScopeLimit) {} finally {
      limit.cancel();
    }
  }

  /**
   * Waits a second at most for the end of the accepting fiber. With {@code Strategy.CALLER} this
   * fiber runs the conversations, whose handlers may ignore an interrupt.
   */
  private void awaitAccepting() {
    if (acceptFiber.getState() == Thread.State.NEW) return;
    try {
      acceptFiber.join(GRACE);
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

  /** Ends the input of a conversation, because an exit was asked for. */
  protected void requestEnd(ClientSocket socket) {
    socket.endInput();
  }

  @Override
  public final void kill() {
    shut(); // not stopAccepting(), which would give clients time to finish
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
    return "'" + name() + "' on " + serverSocket.addressText();
  }
}
