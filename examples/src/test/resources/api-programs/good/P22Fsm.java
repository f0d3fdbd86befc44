import io.fibry.*;
import io.fibry.fsm.*;
import java.time.Duration;

class P22Fsm {
  sealed interface Door {}
  record Closed() implements Door {}
  record Open(String by) implements Door {}
  record Locked(int code) implements Door {}

  sealed interface Event {}
  record Push(String by) implements Event {}
  record Lock(int code) implements Event {}
  record Unlock(int code) implements Event, Request<Unlock, Boolean> {}

  public static void main(String[] args) {
    var door = Fsm.of(Door.class, Event.class, new Closed())
        .on(Closed.class, Push.class, (closed, push) -> new Open(push.by()))
        .on(Closed.class, Lock.class, (closed, lock) -> new Locked(lock.code()))
        .on(Locked.class, Unlock.class, (locked, unlock, context) -> {
          boolean fits = locked.code() == unlock.code();
          context.reply(unlock, fits);
          return fits ? new Closed() : locked;
        })
        .postpone(Open.class, Lock.class)
        .postpone(Open.class, Unlock.class)
        .onTimeout(Open.class, Duration.ofSeconds(10), open -> new Closed())
        .onEnter(Open.class, open -> System.out.println(open.by() + " came in"))
        .newActor(ActorSystem.named("door"));

    door.sendMessage(new Push("Ada"));
    door.sendMessage(new Lock(1234));
    boolean opened = door.ask(new Unlock(1234));
    System.out.println(opened);
  }
}
