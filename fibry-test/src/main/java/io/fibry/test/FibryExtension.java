package io.fibry.test;

import io.fibry.ActorScope;
import io.fibry.time.ManualClock;
import java.util.Objects;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolutionException;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * A JUnit extension that gives each test a scope with a clock, and closes the scope after the test.
 * Immutable and thread-safe: tests may run in parallel.
 * {@snippet class="io.fibry.test.SnippetsTest" region="extension"}
 *
 * <p>A test, {@code @BeforeEach} or {@code @AfterEach} method may have parameters of type
 * {@link TestScope}, {@link ActorScope} (the same object) and {@link ManualClock} (its clock).
 *
 * <p>An actor that is idle after the test, or ends after its waiting messages, is not a leak. An
 * actor that must be interrupted is a leak, and fails the test with a text that says what each
 * actor was doing. Actors outside the scope are not checked.
 */
public final class FibryExtension implements ParameterResolver, AfterEachCallback {
  private static final ExtensionContext.Namespace OURS = ExtensionContext.Namespace.create(FibryExtension.class);

  private final UnaryOperator<ActorScope.Options> options;
  private final boolean refusesDeadLetters;

  /** For {@code @ExtendWith}: actors run on virtual threads, and dead letters are allowed. */
  public FibryExtension() {
    this(options -> options, false);
  }

  private FibryExtension(UnaryOperator<ActorScope.Options> options, boolean refusesDeadLetters) {
    this.options = options;
    this.refusesDeadLetters = refusesDeadLetters;
  }

  /**
   * Sets the options of the scopes; for {@code @RegisterExtension}.
   *
   * @param options changes the root's options; the clock is always a manual one
   * @return a changed copy
   */
  public FibryExtension withOptions(UnaryOperator<ActorScope.Options> options) {
    return new FibryExtension(Objects.requireNonNull(options, "options"), refusesDeadLetters);
  }

  /**
   * Fails a test that leaves dead letters, except those that it found with
   * {@link TestScope#assertDeadLetter}; for {@code @RegisterExtension}.
   *
   * @return a changed copy
   */
  public FibryExtension withoutDeadLetters() {
    return new FibryExtension(options, true);
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext test) {
    var type = parameter.getParameter().getType();
    return type == TestScope.class || type == ActorScope.class || type == ManualClock.class;
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext test) {
    var scope = scope(test);
    return parameter.getParameter().getType() == ManualClock.class ? scope.clock() : scope;
  }

  private TestScope scope(ExtensionContext test) {
    if (test.getTestMethod().isEmpty()) throw new ParameterResolutionException(
        "a scope belongs to one test: declare the parameter in the test, @BeforeEach or @AfterEach, not in a "
            + "constructor, @BeforeAll or @AfterAll");
    var ours = test.getStore(OURS);
    var made = ours.get(TestScope.class, TestScope.class);
    if (made != null) return made;
    var scope = TestScope.open(test.getDisplayName(), options);
    ours.put(TestScope.class, scope);
    return scope;
  }

  @Override
  public void afterEach(ExtensionContext test) {
    var scope = test.getStore(OURS).remove(TestScope.class, TestScope.class);
    if (scope == null) return;
    scope.close();
    if (refusesDeadLetters && test.getExecutionException().isEmpty()) scope.assertNoDeadLetters();
  }
}
