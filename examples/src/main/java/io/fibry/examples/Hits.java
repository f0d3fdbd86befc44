package io.fibry.examples;

import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.durable.Durable;
import io.fibry.examples.files.Folder;
import io.fibry.store.folder.FolderStore;

/** A counter that survives the process, if it gets a folder as its argument. */
class Hits {
  record Hit() implements Request<Hit, Long> {}

  static final Durable<Hit> HITS = Durable.kind("hits", Hit.class).state(0L).handler((count, hit, context) -> {
    context.reply(hit, count + 1); // sent when the new count is on disk
    return count + 1;
  });

  public static void main(String[] args) throws Exception {
    try (var folder = Folder.of(args);
        var store = FolderStore.open(folder.path());
        var home = HITS.newActor(ActorSystem.named("home"), store)) {
      for (int i = 0; i < 3; i++) System.out.println("hit " + home.ask(new Hit()));
    }
  }
}
