package io.fibry.examples;

import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** The lines that each example prints. */
final class ExpectedOutput {
  private static final String MAILS = """
      mail to ada: you have paid 300
      mail to bob: you have paid 200
      mail to ada: you have paid 300""";

  private static final String ORDERED_ONCE = """
      key-1 hat: order 1
      key-1 hat: order 1
      key-2 shoes: order 2
      the server is started again
      key-1 hat: order 1
      key-1 scarf: key-1 is the key of another order
      key-3 scarf: order 3""";

  /** The lines that each example prints in its first run; # stands for a number. */
  static final Map<String, String> FIRST_RUN = new TreeMap<>(Map.ofEntries(
      Map.entry("Hello", "Hello World"),
      Map.entry("Counter", "four senders, a thousand each: 4000"),
      Map.entry("Account", "200 paid: true, 400 paid: false, left: 300"),
      Map.entry("DeferredReply", "Ada sleeps in 12, Bob in 7"),
      Map.entry("BoundedMailbox", """
          BLOCK: taken [true, true, true], handled [1st, 2nd, 3rd]
          REJECT: taken [true, true, false], handled [1st, 2nd]
          DROP_NEWEST: taken [true, true, false], handled [1st, 2nd]
          DROP_OLDEST: taken [true, true, true], handled [2nd, 3rd]"""),
      Map.entry("Priority", "the job in progress\nalarm\ninvoice\nanother invoice\nreport"),
      Map.entry("SelectiveReceive", "nobody bought 2\nhere is your hat"),
      Map.entry("Stash", "log.txt: first\nlog.txt: second\nlog.txt: third"),
      Map.entry("Door", "Ada came in\nthe door fell shut behind Ada\nopens with 1111: false\nopens with 1234: true"),
      Map.entry("Timers", "tick 1\ntick 2\ntick 3\nidle: good bye"),
      Map.entry("ActorAsExecutor", "hat costs 300\nshoes costs 500"),
      Map.entry("SinkExample", "2 names, first of all Ada"),
      Map.entry("OwnStrategy", "mine runs on important\nthis one runs on the pool's thread"),
      Map.entry("InlineRequests",
          "on the asker's own thread, as usual: false\non the asker's own thread, inline: true\nfrom a platform "
              + "thread: false"),
      Map.entry("WaysToEnd", """
          poison pill: handled [1, 2, 3], Finished, takes more: false
          askExit: handled [1], Stopped, takes more: false
          kill: handled [], Killed, takes more: false"""),
      Map.entry("Supervision", """
          till [apple], stock [apple]
          nonsense!
          till [apple, pear], stock [apple, pear]
          fire!
          till [plum], stock [plum]
          fire!
          till: Failed: java.lang.IllegalStateException: fire
          stock: Stopped"""),
      Map.entry("Shutdown", """
          1000 handled of 1003, still running []
          slow lost 'the long one': FAILED
          slow lost 'never begun': UNDELIVERED
          slow lost 'nor this one': UNDELIVERED
          takes more: false"""),
      Map.entry("WatchedFolder", "changed: hat.txt\nwatches no more"),
      Map.entry("Transactions", """
          characters outside of whole blocks: 0
          {Ada=70, Bob=130}
          no account Eve
          {Ada=80, Bob=120}"""),
      Map.entry("WorkerPools", """
          3 connections; taken: true, true, false
          scaled 70 MB
          a message for actor 'images' weighs 101; it must weigh at least 1 and at most 100, all permits of the pool
          Ada 123456789, Bob 123456789, Eve 123456789
          a page from a fiber"""),
      Map.entry("OrderPipeline", """
          orders/1 could not do 'nonsense': 2 fields needed, not 1
          199 orders, 20497 cents, 4 priced at once"""),
      Map.entry("DeadLetters",
          "divider lost 0: FAILED\n100 / 5 = 20\ndivider lost 10: UNDELIVERED\nsmall lost third: REJECTED"),
      Map.entry("TcpHello", "Hello!\nHello!\nHello!"),
      Map.entry("Chat", """
          ann sees: ann has come
          bob sees: bob has come
          ann sees: bob has come
          bob sees: ann: hello, bob
          ann sees: ann: hello, bob
          bob sees: bob: hello, ann
          ann sees: bob: hello, ann
          ann sees: bob has left"""),
      Map.entry("Forwarder", "WHO IS THERE?\nAND NOW?\n2 clients, 21 bytes there, 21 back"),
      Map.entry("IotGateway",
          "100 devices are connected\nround 1: 5050\nround 2: 5050\nround 3: 5050\n0 devices are connected"),
      Map.entry("PubSub",
          "desk: 1\npublisher is through: false\nall: [1, 2, 3, 4], the latest: [1, 4], audited: [1, 2, 3, 4]"),
      Map.entry("SharedValueExample", "level: 1000"),
      Map.entry("EntitiesExample",
          "account 0: 1 saved, 2 in all\n1000 accounts are alive\n1000 were idle and have been saved"),
      Map.entry("Batches", """
          written together: [1, 2, 3]
          written together: [4, 5, 6]
          written together: [7]
          failed together: [bad, good]
          clicks: {home=2, shop=1}
          last prices: {apple=30, pear=45}"""),
      Map.entry("RateLimitExample", """
          mail 1 after # ms
          mail 2 after # ms
          mail 3 after # ms
          mail 4 after # ms
          mail 5 after # ms
          mail 6 after # ms
          nine jobs of three workers after # ms"""),
      Map.entry("Overload", """
          bounded by number: in time # of 600, then # of 80: OK
          bounded by time: in time # of 600, then # of 80: OK
          unbounded: in time # of 600, then # of 80: COLLAPSED"""),
      Map.entry("FilesAndWork", """
          400 reads wait, 133 computations: done in one pool 2, with the reads on fibers 133
          400 reads wait, 400 computations: done in one pool 4, with the reads on fibers 400
          400 reads wait, 1200 computations: done in one pool 12, with the reads on fibers 1200
          400 reads wait, 2800 computations: done in one pool 28, with the reads on fibers 2800"""),
      Map.entry("SqlRamp", """
          refuses: in time # of 60, # of 120, # of 600, # of 60: OK
          lets all in: in time # of 60, # of 120, # of 600, # of 60: COLLAPSED"""),
      Map.entry("HttpCalls",
          "100 calls were at the server together\n100 calls in sequence: # ms\n100 calls in parallel: # ms"),
      Map.entry("HooksExample", """
          before 8
          after 8: 4
          half of 8 is 4
          before 7
          on the error of 7: 7 is odd
          no half: 7 is odd
          500 calls with a hook of a second each: answered after # ms
          all hooks done: # ms"""),
      Map.entry("ScheduledTasks", """
          once
          tick 1
          tick 2
          tick 3
          poll 1: not yet
          poll 2: not yet
          poll 3: done
          failed at run 2, and went on: 4 runs"""),
      Map.entry("Generators", """
          the first ten: [0, 1, 1, 2, 3, 5, 8, 13, 21, 34]
          the producer has ended
          one line
          another line
          java.io.IOException: the disk is gone"""),
      Map.entry("ScatterGather", """
          all: [300, 250]
          first: 250
          late: "hat" (sent to 2 actors; no answer from closed)"""),
      Map.entry("MapReduceExample", """
          {be=2, dream=1, is=1, not=1, or=1, question=1, sleep=1, that=1, the=1, to=4}
          For input string: "three\""""),
      Map.entry("FlowBridge", "hello\nworld\n1\n4\n9"),
      Map.entry("UdpEcho", "hello -> hello\na long greeting -> a long gre\nall! -> no"),
      Map.entry("HttpHello", "Hello World!"),
      Map.entry("Hits", "hit 1\nhit 2\nhit 3"),
      Map.entry("TwoNodes", "ada lives on first\nada lives on second"),
      Map.entry("Bank", "ada has 500, 600 paid: false\ngrace has 500, 600 paid: false"),
      Map.entry("Transfer", "paid: true\ngrace got 300 from ada\nada has 200\ngrace has 300"),
      Map.entry("Workflow",
          "o1 is new\ncharges 1500 cents for order o1\no1 is shipped a book for receipt 7"),
      Map.entry("Reminders", "in the cart: 1\nada has forgotten [a book]; awake: 1"),
      Map.entry("OrderOnce", ORDERED_ONCE),
      Map.entry("Mails", MAILS + "\npaid in all: {ada=600, bob=200}"),
      Map.entry("OldEvents",
          "before: 500 cents\ntoday: [PaidIn[cents=500, currency=EUR], PaidIn[cents=20, currency=USD]]"),
      Map.entry("Crash", "stored: book, hat\nmessages kept, too: book, lamp, pen, hat"),
      Map.entry("HttpToActor", "order 1\norder 2\ndata: sold: hat\ndata: sold: shoes"),
      Map.entry("OrderApi", "Unauthorized"),
      Map.entry("ClientLimit", "the report; 429"),
      Map.entry("ManyActors", "10000 actors wait for work\n10000 have answered"),
      Map.entry("ContextSwitch", "500 requests between threads: # ms\n500 requests between fibers: # ms")));

  /** Examples with limits that expire; their output is certain only in simulated time. */
  static final Set<String> WITH_LIMITS =
      Set.of("Batches", "OrderPipeline", "Overload", "ScatterGather", "Shutdown", "SqlRamp");

  /** The lines that an example prints in its second run, which reads the data of the first run. */
  static final Map<String, String> SECOND_RUN = Map.of(
      "Hits", "hit 4\nhit 5\nhit 6",
      "Bank", "ada has 1000, 600 paid: true\ngrace has 1000, 600 paid: true",
      "Transfer", "paid: true\ngrace got 300 from ada\nada has 400\ngrace has 600",
      "Workflow", "o1 is shipped a book for receipt 7",
      "Reminders", "in the cart: 2\nada has forgotten [a book, a book]; awake: 1",
      "OrderOnce", ORDERED_ONCE,
      "Mails", MAILS + "\npaid in all: {ada=1200, bob=400}");

  private ExpectedOutput() {}

  /** Replaces milliseconds, and the numbers of messages answered in time, by #. */
  static String withoutTime(String text) {
    return text.replaceAll("\\d+ (ms|of)", "# $1");
  }

  /** Returns the first line without numbers, lists and verdicts, which a slow machine changes. */
  static String firstLineForm(String text) {
    return text.lines().findFirst().orElse("").replaceAll("\\d+", "#").replaceAll("\\[.*]", "[]")
        .replaceAll(": (OK|SLOW|COLLAPSED)$", "");
  }
}
