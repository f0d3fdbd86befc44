package io.fibry.support;

import com.sun.source.tree.BinaryTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.CompoundAssignmentTree;
import com.sun.source.tree.ConditionalExpressionTree;
import com.sun.source.tree.ExpressionStatementTree;
import com.sun.source.tree.ExpressionTree;
import com.sun.source.tree.LiteralTree;
import com.sun.source.tree.MemberReferenceTree;
import com.sun.source.tree.MemberSelectTree;
import com.sun.source.tree.MethodInvocationTree;
import com.sun.source.tree.ParenthesizedTree;
import com.sun.source.tree.Tree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreePath;
import com.sun.source.util.TreePathScanner;
import com.sun.source.util.Trees;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import javax.lang.model.element.ElementKind;
import javax.lang.model.element.ExecutableElement;
import javax.lang.model.element.TypeElement;
import javax.lang.model.type.ArrayType;
import javax.lang.model.type.DeclaredType;
import javax.lang.model.type.TypeKind;
import javax.lang.model.type.TypeMirror;
import javax.tools.Diagnostic;
import javax.tools.ToolProvider;

/** Compiles sources, and looks at the types of what becomes a part of a text. */
final class RawTextSearch {
  private static final Set<String> SAFE_CLASSES = Set.of("io.fibry.text.Lines", "io.fibry.engine.jvm.MessageTexts");
  private static final Set<String> SAFE_METHODS = Set.of("shown", "asked", "describe", "describeRequest");

  /** Types of the JDK whose texts are one line, and say nothing of a message. */
  private static final List<String> PLAIN = List.of("java.lang.Boolean", "java.lang.Byte", "java.lang.Short",
      "java.lang.Character", "java.lang.Integer", "java.lang.Long", "java.lang.Float", "java.lang.Double",
      "java.lang.String", "java.lang.Class", "java.lang.Thread", "java.lang.StackTraceElement", "java.lang.Void",
      "java.lang.reflect.", "java.math.", "java.net.Inet", "java.net.ServerSocket", "java.net.URI",
      "java.nio.CharBuffer",
      "java.nio.file.Path", "java.time.", "java.util.Locale", "java.util.UUID", "java.util.regex.Pattern",
      "java.util.concurrent.atomic.");

  private RawTextSearch() {}

  static Set<String> in(Path sources) throws IOException {
    var compiler = ToolProvider.getSystemJavaCompiler();
    List<Path> files;
    try (var all = Files.walk(sources)) {
      files = all.filter(file -> file.toString().endsWith(".java") && !file.endsWith("module-info.java")).toList();
    }
    var errors = new ArrayList<String>();
    var found = new TreeSet<String>();
    try (var manager = compiler.getStandardFileManager(null, null, null)) {
      var task = (JavacTask) compiler.getTask(null, manager, said -> {
        if (said.getKind() == Diagnostic.Kind.ERROR) errors.add(said.toString());
      }, List.of("-proc:none", "-implicit:none", "-cp", System.getProperty("java.class.path")), null,
          manager.getJavaFileObjectsFromPaths(files));
      var units = task.parse();
      task.analyze();
      for (var unit : units) if (!isSafe(unit)) new TextScan(unit, Trees.instance(task), found).scan(unit, null);
    }
    if (!errors.isEmpty()) throw new IllegalArgumentException("the sources do not compile: " + errors);
    return found;
  }

  private static boolean isSafe(CompilationUnitTree unit) {
    String file = unit.getSourceFile().getName();
    return SAFE_CLASSES.stream().anyMatch(name -> file.endsWith(name.replace('.', '/') + ".java"));
  }

  private static final class TextScan extends TreePathScanner<Void, Void> {
    private final CompilationUnitTree unit;
    private final Trees trees;
    private final Set<String> found;

    TextScan(CompilationUnitTree unit, Trees trees, Set<String> found) {
      this.unit = unit;
      this.trees = trees;
      this.found = found;
    }

    @Override
    public Void visitBinary(BinaryTree tree, Void none) {
      if (tree.getKind() == Tree.Kind.PLUS && isString(trees.getTypeMirror(getCurrentPath()))) {
        judge(tree.getLeftOperand());
        judge(tree.getRightOperand());
      }
      return super.visitBinary(tree, none);
    }

    @Override
    public Void visitCompoundAssignment(CompoundAssignmentTree tree, Void none) {
      if (isString(trees.getTypeMirror(getCurrentPath()))) judge(tree.getExpression());
      return super.visitCompoundAssignment(tree, none);
    }

    @Override
    public Void visitMethodInvocation(MethodInvocationTree call, Void none) {
      if (trees.getElement(getCurrentPath()) instanceof ExecutableElement method) {
        if (isSafe(method)) return null;
        String owner = method.getEnclosingElement().toString();
        String name = method.getSimpleName().toString();
        var arguments = call.getArguments();
        switch (owner) {
          case "org.slf4j.Logger" -> judgeLine(arguments);
          case "java.lang.String" -> {
            if (Set.of("format", "formatted", "valueOf", "join").contains(name)) arguments.forEach(this::judge);
          }
          case "java.lang.StringBuilder", "java.util.Objects" -> {
            if (Set.of("append", "insert", "toString").contains(name)) arguments.forEach(this::judge);
          }
          default -> {}
        }
        if (arguments.isEmpty() && Set.of("toString", "getMessage", "getLocalizedMessage").contains(name)
            && call.getMethodSelect() instanceof MemberSelectTree of
            && !(getCurrentPath().getParentPath().getLeaf() instanceof ExpressionStatementTree))
          judge(of.getExpression());
      }
      return super.visitMethodInvocation(call, none);
    }

    @Override
    public Void visitMemberReference(MemberReferenceTree reference, Void none) {
      if (Set.of("toString", "valueOf", "getMessage").contains(reference.getName().toString())
          && trees.getElement(getCurrentPath()) instanceof ExecutableElement method
          && Set.of("java.lang.Object", "java.lang.String", "java.lang.Throwable", "java.util.Objects")
              .contains(method.getEnclosingElement().toString())
          && isString(method.getReturnType()))
        note(reference);
      return super.visitMemberReference(reference, none);
    }

    /** A logger writes the stack of an exception that has no place in the line. */
    private void judgeLine(List<? extends ExpressionTree> arguments) {
      for (int i = 0; i < arguments.size(); i++) {
        boolean stack = i == arguments.size() - 1 && isThrowable(typeOf(arguments.get(i)))
            && places(arguments.getFirst()) < arguments.size() - 1;
        if (!stack) judge(arguments.get(i));
      }
    }

    private static int places(ExpressionTree line) {
      int places = 0;
      String text = line.toString();
      for (int at = text.indexOf("{}"); at >= 0; at = text.indexOf("{}", at + 2)) places++;
      return places;
    }

    private void judge(ExpressionTree part) {
      switch (part) {
        case ParenthesizedTree inner -> judge(inner.getExpression());
        case ConditionalExpressionTree choice -> {
          judge(choice.getTrueExpression());
          judge(choice.getFalseExpression());
        }
        case LiteralTree literal -> {}
        case BinaryTree sum -> {}
        default -> {
          if (!isPlain(typeOf(part))) note(part);
        }
      }
    }

    private void note(ExpressionTree part) {
      found.add(Path.of(unit.getSourceFile().toUri()).getFileName() + ": " + part);
    }

    private TypeMirror typeOf(ExpressionTree part) {
      return trees.getTypeMirror(new TreePath(getCurrentPath(), part));
    }

    private static boolean isSafe(ExecutableElement method) {
      return SAFE_CLASSES.contains(method.getEnclosingElement().toString())
          || SAFE_METHODS.contains(method.getSimpleName().toString());
    }

    private static boolean isString(TypeMirror type) {
      return type != null && type.toString().endsWith("String");
    }

    private boolean isThrowable(TypeMirror type) {
      for (var one = type; one instanceof DeclaredType declared; one = superclass(declared))
        if (declared.asElement().toString().equals("java.lang.Throwable")) return true;
      return false;
    }

    private static TypeMirror superclass(DeclaredType type) {
      return ((TypeElement) type.asElement()).getSuperclass();
    }

    private boolean isPlain(TypeMirror type) {
      if (type.getKind().isPrimitive() || type.getKind() == TypeKind.NULL) return true;
      if (type instanceof ArrayType array) return isPlain(array.getComponentType());
      if (!(type instanceof DeclaredType declared)) return false;
      var element = (TypeElement) declared.asElement();
      String name = element.getQualifiedName().toString();
      if (element.getKind() == ElementKind.ENUM || PLAIN.stream().anyMatch(name::startsWith)) return true;
      if (isThrowable(type)) return false;
      if (name.startsWith("java.util.")) return !declared.getTypeArguments().isEmpty()
          && declared.getTypeArguments().stream().allMatch(this::isPlain);
      return name.startsWith("io.fibry.") && (element.getKind() != ElementKind.RECORD || isPlainRecord(element));
    }

    /** The text that a record is given has the texts of its components. */
    private boolean isPlainRecord(TypeElement element) {
      return element.getEnclosedElements().stream().anyMatch(
          one -> one instanceof ExecutableElement method && method.getSimpleName().contentEquals("toString")
              && method.getParameters().isEmpty() && trees.getTree(method) != null)
          || element.getRecordComponents().stream().allMatch(one -> isPlain(one.asType()));
    }
  }
}
