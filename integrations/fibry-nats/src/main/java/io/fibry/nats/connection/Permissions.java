package io.fibry.nats.connection;

import io.fibry.nats.NatsNetwork.Role;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The subjects that programs of an app may publish and subscribe to, by their role.
 *
 * <p>The server checks the subject of a message, and not its body. So a program that may call the
 * purge of a stream can delete the whole stream. A program that may publish to a stream with
 * roll-ups can delete the whole stream, too. Therefore the stream of a store permits no roll-ups. A
 * keeper publishes an answer to the subject that the request names.
 * {@link io.fibry.nats.transport.ProgramMessaging} and {@link io.fibry.nats.store.PurgeService}
 * therefore check that subject, because the answer could act as a purge call. A node may not
 * publish to the inboxes of {@link #SERVER_REPLIES}, so it cannot forge answers of JetStream. An
 * asker may not call JetStream, see {@link io.fibry.nats.transport.TableDirectory}.
 *
 * @param publish subjects to which the program may publish
 * @param notPublish exceptions to {@code publish}
 * @param subscribe subjects to which the program may subscribe
 * @param notSubscribe exceptions to {@code subscribe}
 */
public record Permissions(List<String> publish, List<String> notPublish, List<String> subscribe,
    List<String> notSubscribe) {
  /** Inboxes for answers from JetStream. */
  static final String SERVER_REPLIES = ".i.";
  /** Subjects for answers from other programs. */
  static final String PROGRAM_REPLIES = ".r.";
  /**
   * Subjects for all messages to a program that can only ask: answers, and keep-alives, by which
   * nodes tell the program that they have its requests.
   */
  static final String TO_ASKERS = ".a.";

  // calls of JetStream; %s is the name of the stream
  private static final List<String> KEEPER_CALLS =
      List.of("STREAM.INFO.%s", "STREAM.CREATE.%s", "STREAM.MSG.GET.%s", "STREAM.PURGE.%s", "DIRECT.GET.%s",
          "CONSUMER.CREATE.%s", "CONSUMER.CREATE.%s.>", "CONSUMER.DELETE.%s.>");
  private static final List<String> NODE_TABLE_CALLS =
      List.of("STREAM.INFO.%s", "STREAM.MSG.GET.%s", "CONSUMER.CREATE.%s.>", "CONSUMER.DELETE.%s.>");
  private static final List<String> NODE_LOG_CALLS = List.of("STREAM.INFO.%s", "STREAM.MSG.GET.%s", "DIRECT.GET.%s");
  private static final List<String> NODE_QUEUE_CALLS = List.of("STREAM.INFO.%s", "STREAM.MSG.GET.%s", "DIRECT.GET.%s",
      "CONSUMER.CREATE.%s.>");
  private static final List<String> WORK_CALLS =
      List.of("$JS.API.STREAM.MSG.DELETE.%s", "$JS.API.CONSUMER.MSG.NEXT.%s.>", "$JS.ACK.%s.>");

  public static Permissions of(String app, Role role) {
    String prefix = "fb." + app + ".";
    var subjects = new AppSubjects(app);
    String tableStream = subjects.tableStream();
    String logStream = new StoreSubjects(app).streamName();
    String workStream = subjects.workStream();
    var workCalls = WORK_CALLS.stream().map(call -> call.formatted(workStream));
    var flowControl = "$JS.FC." + tableStream + ".>";
    return switch (role) {
      case KEEPER -> new Permissions(
          concat(List.of(Stream.of(prefix + ">", subjects.tablePrefix() + ">", "$JS.API.INFO", flowControl),
              calls(KEEPER_CALLS, tableStream), calls(KEEPER_CALLS, logStream), calls(KEEPER_CALLS, workStream),
              workCalls)),
          List.of(), List.of(prefix + ">"), List.of());
      case NODE -> new Permissions(
          concat(List.of(Stream.of(prefix + ">", subjects.tablePrefix() + ">", flowControl),
              calls(NODE_TABLE_CALLS, tableStream),
              calls(NODE_LOG_CALLS, logStream), calls(NODE_QUEUE_CALLS, workStream), workCalls)),
          List.of(prefix.substring(0, prefix.length() - 1) + SERVER_REPLIES + ">"), List.of(prefix + ">"),
          List.of(subjects.purges()));
      case ASKER -> new Permissions(
          concat(List.of(Stream.of(prefix + "n.*", prefix + "e.*.*", prefix + "c", subjects.directory()))),
          List.of(),
          List.of("fb." + app + TO_ASKERS + ">"), List.of());
    };
  }

  private static Stream<String> calls(List<String> calls, String stream) {
    return calls.stream().map(call -> "$JS.API." + call.formatted(stream));
  }

  private static List<String> concat(List<Stream<String>> groups) {
    return groups.stream().flatMap(group -> group).toList();
  }

  /** {@return the permissions in the syntax of a server's configuration} */
  public String text() {
    return "publish: " + text(publish, notPublish) + "\nsubscribe: " + text(subscribe, notSubscribe) + "\n";
  }

  private static String text(List<String> allowed, List<String> denied) {
    return "{ allow: " + quoted(allowed) + (denied.isEmpty() ? "" : ", deny: " + quoted(denied)) + " }";
  }

  private static String quoted(List<String> subjects) {
    return subjects.stream().map(subject -> '"' + subject + '"').collect(Collectors.joining(", ", "[", "]"));
  }

  // ---- refusals

  /**
   * {@return a text that names a role that may publish or subscribe to the subject: the program's
   * own role if it may, otherwise the role with the fewest permissions}
   */
  static String needed(String app, Role ownRole, boolean toSend, String subject) {
    return Stream.of(ownRole, Role.ASKER, Role.NODE, Role.KEEPER)
        .filter(role -> of(app, role).permits(toSend, subject)).findFirst()
        .map(role -> "that needs a user with NatsNetwork.permissions(\"" + app + "\", Role." + role + ")")
        .orElse("no role of app '" + app + "' permits that");
  }

  private boolean permits(boolean toSend, String subject) {
    return toSend ? permits(publish, notPublish, subject) : permits(subscribe, notSubscribe, subject);
  }

  private static boolean permits(List<String> allowed, List<String> denied, String subject) {
    return allowed.stream().anyMatch(filter -> matches(filter, subject))
        && denied.stream().noneMatch(filter -> matches(filter, subject));
  }

  private static boolean matches(String filter, String subject) {
    var filterNames = filter.split("\\.");
    var names = subject.split("\\.");
    for (int i = 0; i < filterNames.length; i++) {
      if (filterNames[i].equals(">")) return names.length > i;
      if (i >= names.length || !filterNames[i].equals("*") && !filterNames[i].equals(names[i])) return false;
    }
    return names.length == filterNames.length;
  }
}
