package io.fibry.nats.connection;

import io.fibry.nats.NatsNetwork;
import io.fibry.text.Lines;
import io.fibry.text.SafeLogger;
import io.nats.client.Connection;
import io.nats.client.ConnectionListener;
import io.nats.client.Consumer;
import io.nats.client.ErrorListener;
import io.nats.client.Message;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.slf4j.Logger;

/**
 * Logs the errors and connection changes that the client reports only to its listeners. Passes
 * refusals on to pending calls, and runs callbacks after reconnections.
 */
public final class ConnectionErrors implements ErrorListener, ConnectionListener {
  private static final Logger LOG = SafeLogger.of(NatsNetwork.class);
  private static final int MAX_FAILURES = 8; // errors kept for the exception of a failed connection
  private static final int MAX_CAUSES = 100; // causes may form a cycle
  private static final Pattern DENIED =
      Pattern.compile("permissions violation for (publish|subscription) to \"([^\"]+)\".*", Pattern.CASE_INSENSITIVE);

  /** Called if the server does not permit this program to publish or subscribe to a subject. */
  @FunctionalInterface
  interface DenialListener {
    void denied(boolean toSend, String subject);
  }

  private final AppClient identity;
  private final String clientName;
  private final CopyOnWriteArrayList<DenialListener> denialListeners = new CopyOnWriteArrayList<>();
  private final List<Runnable> onReconnected = new CopyOnWriteArrayList<>();
  private final CopyOnWriteArrayList<String> failures = new CopyOnWriteArrayList<>(); // the last distinct errors

  public ConnectionErrors(AppClient identity) {
    this.identity = identity;
    this.clientName = identity.app() + "/" + identity.node();
  }

  AppClient identity() {
    return identity;
  }

  AutoCloseable onDenied(DenialListener listener) {
    denialListeners.add(listener);
    return () -> denialListeners.remove(listener);
  }

  void onReconnected(Runnable code) {
    onReconnected.add(code);
  }

  @Override
  public void errorOccurred(Connection connection, String error) {
    String safeError = ServerUrls.withoutSecrets(Lines.escaped(error));
    addFailure(safeError);
    LOG.warn("{}: the server of NATS says: {}", clientName, safeError);
    var violation = DENIED.matcher(error.strip());
    if (violation.matches())
      denialListeners.forEach(listener -> listener.denied(violation.group(1).equalsIgnoreCase("publish"),
          violation.group(2)));
  }

  @Override
  public void exceptionOccurred(Connection connection, Exception failure) {
    addFailure(text(failure));
    LOG.debug("{}: the client of NATS: {}", clientName, text(failure));
  }

  private void addFailure(String failure) {
    if (failures.addIfAbsent(failure) && failures.size() > MAX_FAILURES) failures.removeFirst();
  }

  @Override
  public void slowConsumerDetected(Connection connection, Consumer consumer) {
    LOG.error("{}: messages came faster than they were read, and {} were lost", clientName, consumer.getDroppedCount());
  }

  /**
   * Called when a thread is interrupted while it sends, for example because its actor is killed.
   * The sender is notified in other ways: requests of the client throw an InterruptedException, and
   * {@link RequestMultiplexer#publish} clears the interrupt before it calls the client.
   */
  @Override
  public void messageDiscarded(Connection connection, Message message) {
    LOG.debug("{}: a message to {} was not sent, because its thread was interrupted", clientName,
        Lines.escaped(message.getSubject()));
  }

  @Override
  @SuppressWarnings("deprecation") // the interface requires this method
  public void connectionEvent(Connection connection, Events event) {
    switch (event) {
      case DISCONNECTED -> LOG.warn("{}: the connection to NATS is cut; the client reconnects", clientName);
      case RECONNECTED -> LOG.info("{}: connected again, to {}", clientName, address(connection));
      case LAME_DUCK -> LOG.info("{}: the server of NATS at {} is about to end", clientName, address(connection));
      case RESUBSCRIBED -> onReconnected.forEach(Runnable::run); // comes after RECONNECTED; only now answers arrive
      default -> LOG.debug("{}: {}", clientName, event);
    }
  }

  public static String address(Connection connection) {
    return ServerUrls.withoutSecrets(String.valueOf(connection.getConnectedUrl()));
  }

  /** Returns the messages of a failure and its causes, each once, without secrets in URLs. */
  public static String text(Throwable failure) {
    String text = Lines.message(failure);
    int causes = 0;
    for (var cause = failure.getCause(); cause != null && causes < MAX_CAUSES; cause = cause.getCause(), causes++) {
      String message = Lines.message(cause);
      if (!text.contains(message)) text += ": " + message;
    }
    return ServerUrls.withoutSecrets(text);
  }

  /** {@return the text of a failure, and the errors that the client has reported before it} */
  public String textWithReasons(Throwable failure) {
    var reasons = failures.stream().filter(error -> !error.isEmpty()).collect(Collectors.joining("; "));
    return text(failure) + (reasons.isEmpty() ? "" : ": " + reasons);
  }
}
