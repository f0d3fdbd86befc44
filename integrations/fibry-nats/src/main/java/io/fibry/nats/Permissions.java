package io.fibry.nats;

import io.fibry.nats.NatsNetwork.Role;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The subjects that programs of an app may send to and hear, by their role.
 *
 * <p>The server checks the subject of a message, and not its body. So a program that may call the
 * purge of a stream may delete all of it, and so may a program that publishes to a stream with
 * roll-ups. Therefore the stream of a store permits no roll-ups. A keeper publishes answers where
 * its askers wish. {@link ProgramMessaging} and {@link PurgeService} therefore check that subject,
 * since the answer could be the call of a purge. For the same reason a node may not publish to the
 * inboxes of {@link #INBOXES}, where programs get answers of JetStream, and an asker may not call
 * JetStream, see {@link TableDirectory}.
 *
 * @param publish subjects to send to
 * @param notPublish exceptions to them
 * @param subscribe subjects to hear
 * @param notSubscribe exceptions to them
 */
record Permissions(List<String> publish, List<String> notPublish, List<String> subscribe,
    List<String> notSubscribe) {
  /** Inboxes for answers from JetStream. */
  static final String INBOXES = ".i.";
  /** Subjects for answers from other programs. */
  static final String ANSWERS = ".r.";
  /**
   * Subjects for all messages to a program that can only ask: answers, and which node has its
   * requests.
   */
  static final String TO_ASKERS = ".a.";

  private static final List<String> OF_STREAMS =
      List.of("STREAM.INFO.%s", "STREAM.CREATE.%s", "STREAM.MSG.GET.%s", "STREAM.PURGE.%s", "DIRECT.GET.%s",
          "CONSUMER.CREATE.%s", "CONSUMER.CREATE.%s.>", "CONSUMER.DELETE.%s.>");
  private static final List<String> OF_TABLE =
      List.of("STREAM.INFO.%s", "STREAM.MSG.GET.%s", "CONSUMER.CREATE.%s.>", "CONSUMER.DELETE.%s.>");
  private static final List<String> OF_LOG = List.of("STREAM.INFO.%s", "STREAM.MSG.GET.%s", "DIRECT.GET.%s");
  private static final List<String> OF_QUEUES = List.of("STREAM.INFO.%s", "STREAM.MSG.GET.%s", "DIRECT.GET.%s",
      "CONSUMER.CREATE.%s.>");
  private static final List<String> OF_WORK =
      List.of("$JS.API.STREAM.MSG.DELETE.%s", "$JS.API.CONSUMER.MSG.NEXT.%s.>", "$JS.ACK.%s.>");

  static Permissions of(String app, Role role) {
    String own = "fb." + app + ".";
    String table = NatsTable.stream(app);
    String log = new StoreSubjects(app).stream();
    String work = NatsQueue.stream(app);
    var working = OF_WORK.stream().map(call -> call.formatted(work));
    var flow = "$JS.FC." + table + ".>";
    return switch (role) {
      case KEEPER -> new Permissions(
          all(List.of(Stream.of(own + ">", NatsTable.subjects(app) + ">", "$JS.API.INFO", flow),
              calls(OF_STREAMS, table), calls(OF_STREAMS, log), calls(OF_STREAMS, work), working)),
          List.of(), List.of(own + ">"), List.of());
      case NODE -> new Permissions(
          all(List.of(Stream.of(own + ">", NatsTable.subjects(app) + ">", flow), calls(OF_TABLE, table),
              calls(OF_LOG, log), calls(OF_QUEUES, work), working)),
          List.of(own.substring(0, own.length() - 1) + INBOXES + ">"), List.of(own + ">"),
          List.of(PurgeService.subject(app)));
      case ASKER -> new Permissions(
          all(List.of(Stream.of(own + "n.*", own + "e.*.*", own + "c", TableDirectory.subject(app)))), List.of(),
          List.of("fb." + app + TO_ASKERS + ">"), List.of());
    };
  }

  private static Stream<String> calls(List<String> calls, String stream) {
    return calls.stream().map(call -> "$JS.API." + call.formatted(stream));
  }

  private static List<String> all(List<Stream<String>> parts) {
    return parts.stream().flatMap(part -> part).toList();
  }

  /** {@return the form of a server's configuration} */
  String text() {
    return "publish: " + text(publish, notPublish) + "\nsubscribe: " + text(subscribe, notSubscribe) + "\n";
  }

  private static String text(List<String> allowed, List<String> denied) {
    return "{ allow: " + quoted(allowed) + (denied.isEmpty() ? "" : ", deny: " + quoted(denied)) + " }";
  }

  private static String quoted(List<String> subjects) {
    return subjects.stream().map(one -> '"' + one + '"').collect(Collectors.joining(", ", "[", "]"));
  }

  // ---- refusals

  /**
   * {@return what a program needs to send to the subject, or to hear it: its own role, or the
   * least}
   */
  static String needed(String app, Role own, boolean toSend, String subject) {
    return Stream.of(own, Role.ASKER, Role.NODE, Role.KEEPER)
        .filter(role -> of(app, role).permits(toSend, subject)).findFirst()
        .map(role -> "that needs a user with NatsNetwork.permissions(\"" + app + "\", Role." + role + ")")
        .orElse("no role of app '" + app + "' permits that");
  }

  private boolean permits(boolean toSend, String subject) {
    return toSend ? permits(publish, notPublish, subject) : permits(subscribe, notSubscribe, subject);
  }

  private static boolean permits(List<String> allowed, List<String> denied, String subject) {
    return allowed.stream().anyMatch(one -> matches(one, subject))
        && denied.stream().noneMatch(one -> matches(one, subject));
  }

  private static boolean matches(String filter, String subject) {
    var wanted = filter.split("\\.");
    var names = subject.split("\\.");
    for (int i = 0; i < wanted.length; i++) {
      if (wanted[i].equals(">")) return names.length > i;
      if (i >= names.length || !wanted[i].equals("*") && !wanted[i].equals(names[i])) return false;
    }
    return names.length == wanted.length;
  }
}
