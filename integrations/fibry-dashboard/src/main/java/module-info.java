import org.jspecify.annotations.NullMarked;

/** A page in the browser that shows a running scope. */
@NullMarked
module io.fibry.dashboard {
  requires transitive io.fibry;
  requires java.management;
  requires static io.fibry.cluster;
  requires static io.fibry.durable;
  requires static org.jspecify;

  exports io.fibry.dashboard;
}
