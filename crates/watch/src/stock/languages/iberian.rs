//! Spanish, Catalan, Portuguese.

use super::Class::*;
use super::Language;

pub(super) const LANGUAGES: &[Language] = &[
    Language {
        name: "Spanish",
        denials_agree: true,
        words: &[
            (
                In,
                "en stock|en existencia|en existencias|hay stock|hay existencias|hay unidades|stock disponible|con stock|de nuevo en stock|de vuelta en stock|otra vez en stock|en almacen|ultimas unidades|ultima unidad|ultimos articulos|pocas unidades|listo para enviar|existencias disponibles|unidades disponibles|tenemos stock|hay disponibilidad|en inventario|disponible en stock|en tienda",
            ),
            (
                WeakIn,
                "disponible|disponibles|de nuevo disponible|disponible de nuevo|otra vez disponible|nuevamente disponible",
            ),
            (
                Out,
                "agotado|agotada|agotados|agotadas|sin stock|sin existencias|fuera de stock|se agoto|no hay stock|no hay existencias|sin inventario|sin unidades|sold out|sin disponibilidad|preventa|preventas|reservar ahora|preorden|descatalogado|descatalogada|vendido todo|stock agotado|fuera de existencias|agotandose|out of stock|existencias agotadas",
            ),
            (WeakOut, "indisponible|indisponibles|no disponible|no disponibles|nodisponible"),
            (
                Label,
                "stock|existencias|disponibilidad|inventario|cantidad disponible|nivel de stock|cantidad en stock|estado de stock",
            ),
            (Left, "quedan|queda|solo quedan|solo queda|restan|restantes|unicamente quedan|aun quedan"),
            (
                Count,
                "unidad|unidades|articulo|articulos|pieza|piezas|producto|productos|ejemplar|ejemplares|par|pares|entrada|entradas|plaza|plazas|talla|tallas|uds|ud|este articulo|este producto|el articulo|el producto",
            ),
            (Time, "dia|dias|hora|horas|minutos|semana|semanas|mes|meses|dias habiles|dias laborables"),
            (
                Not,
                "no|no esta|no estan|ya no|nunca|jamas|tampoco|aun no|todavia no|ni|no se encuentra|no hay|no tenemos|no es",
            ),
            (NoneOf, "ningun|ninguna|ninguno|cero|sin|nada|ni un|ni una"),
            (Be, "es|esta|estan|son"),
            (Yes, "si|claro|por supuesto"),
            (
                No,
                "no|ninguno|ninguna|cero|todavia no|aun no|ya no|nada|lamentablemente no|por desgracia no|no hay|no esta|agotado",
            ),
            (
                Offer,
                "avisame|avisarme|avisenme|avisar|avisadme|aviseme|notificame|notificarme|notifiquenme|notificar|notificacion|notificaciones|aviso|avisos|alerta|alertas|recordarme|recuerdame|enviame|enviarme|enviar un correo|recibir un aviso|recibir aviso|por email|por correo|suscribete|suscribirse|lista de espera|informame|informarme|te avisamos|te avisaremos|le avisaremos|avisanos|recibe|hazmelo saber|mantenme",
            ),
            (
                Condition,
                "cuando|si|en cuanto|tan pronto como|una vez|hasta|hasta que|a menos|antes|siempre que|mientras|al estar|apenas",
            ),
            (
                Future,
                "pronto|proximamente|estara|estaran|sera|seran|esperado|esperada|se espera|previsto|prevista|llegara|llega|llegan|proximo|proxima|en breve|volvera|volveran|habra|va a estar|reposicion|mas adelante|mas tarde",
            ),
            (
                Past,
                "estaba|estaban|estuvo|estuvieron|era|eran|fue|fueron|ha estado|habia|hubo|antes|anteriormente|ultima vez",
            ),
            (
                Now,
                "ahora|actualmente|ya|hoy|por fin|de inmediato|inmediatamente|en este momento|al fin|ya esta|en estos momentos|de momento|por el momento",
            ),
            (Almost, "casi|practicamente|a punto de|pronto"),
            (
                Doubt,
                "quiza|quizas|tal vez|posiblemente|puede|podria|probablemente|bajo pedido|bajo demanda|por encargo|consultar|consulte|consultanos|normalmente|habitualmente|generalmente|a veces|desconocido|desconocida|llamar|segun|comprobar|verificar|preguntar|no todos|no todas|rara vez",
            ),
            (
                Related,
                "similar|similares|otro|otra|otros|otras|alternativa|alternativas|relacionado|relacionados|relacionadas|tambien te puede|tambien compraron|recomendados|accesorios|parecidos",
            ),
            (Or, "o|ni"),
            (But, "pero|sin embargo|aunque|y|porque|sino|excepto|salvo"),
            (
                From,
                "a partir del|a partir de|el|en|desde|desde el|dentro de|para el|del|para|hacia|a finales de|a principios de|a mediados de|tras",
            ),
            (
                Date,
                "enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre|lunes|martes|miercoles|jueves|viernes|sabado|domingo|manana|la proxima semana|el proximo mes|la semana que viene|primavera|verano|otono|invierno|unos dias|pocos dias|finales",
            ),
            (
                Neutral,
                "no solo|no te lo pierdas|no esperes|no hay problema|sin problemas|no te preocupes|anadir al carrito|comprar ahora|todavia|aun|en linea|online|este|esta|estos|el|la|los|las|nuestro|mas de|no mas de|lo sentimos|sin gastos de envio|sin costes|lamentablemente|mucho",
            ),
        ],
    },
    Language {
        name: "Catalan",
        denials_agree: true,
        words: &[
            (In, "en estoc|en existencies|hi ha estoc|de nou en estoc|ultimes unitats|estoc disponible"),
            (WeakIn, "disponible|disponibles"),
            (Out, "esgotat|esgotada|esgotats|esgotades|sense estoc|sense existencies|fora d'estoc|exhaurit|exhaurida"),
            (WeakOut, "no disponible|no disponibles"),
            (Label, "estoc|existencies|disponibilitat"),
            (Left, "queden|queda|nomes queden|resten"),
            (Count, "unitat|unitats|article|articles|producte|productes|peces|aquest article|aquest producte"),
            (Time, "dia|dies|hora|hores|setmana|setmanes"),
            (Not, "no|no esta|ja no|encara no|mai|ni|no hi ha"),
            (NoneOf, "cap|zero|sense"),
            (Yes, "si"),
            (No, "no|cap|zero|encara no|ja no"),
            (Offer, "avisa'm|aviseu me|avisam|notifica'm|avis|alerta|informa'm|llista d'espera"),
            (Condition, "quan|si|tan aviat com|fins|mentre"),
            (Future, "aviat|properament|sera|estara|previst|prevista|s'espera|arribara"),
            (Past, "estava|era|va estar|abans"),
            (Now, "ara|actualment|avui|ja"),
            (Almost, "gairebe|quasi"),
            (Doubt, "potser|possiblement|sota comanda|consulteu|normalment|no tots"),
            (Related, "similars|altres|alternatives|relacionats|altre"),
            (But, "pero|i|encara que"),
            (From, "a partir del|a partir de|el|d'aqui a|des del|en"),
            (Date, "gener|febrer|marc|abril|maig|juny|juliol|agost|setembre|octubre|novembre|desembre|dema"),
            (Neutral, "no nomes|encara"),
        ],
    },
    Language {
        name: "Portuguese",
        denials_agree: true,
        words: &[
            (
                In,
                "em estoque|em stock|de volta ao estoque|de volta ao stock|de novo em estoque|novamente em estoque|a pronta entrega|pronta entrega|ultimas unidades|ultima unidade|ultimas pecas|poucas unidades|no estoque|estoque disponivel|stock disponivel|tem em estoque|em armazem|com estoque|em loja",
            ),
            (WeakIn, "disponivel|disponiveis|novamente disponivel|de novo disponivel|disponivel novamente"),
            (
                Out,
                "esgotado|esgotada|esgotados|esgotadas|sem estoque|sem stock|fora de estoque|fora de stock|fora do estoque|estoque esgotado|stock esgotado|esgotou|pre venda|pre encomenda|sem unidades|sob encomenda|descontinuado|descontinuada|rutura de stock|ruptura de stock|sold out|em falta|out of stock",
            ),
            (WeakOut, "indisponivel|indisponiveis|nao disponivel|nao disponiveis"),
            (Label, "estoque|stock|disponibilidade|quantidade disponivel|quantidade em estoque|inventario|existencias"),
            (Left, "restam|resta|so restam|apenas restam|restantes|restante|faltam apenas|sobraram"),
            (
                Count,
                "unidade|unidades|item|itens|artigo|artigos|produto|produtos|peca|pecas|par|pares|exemplar|exemplares|ingressos|bilhetes|vagas|tamanho|tamanhos|un|este produto|este artigo|este item|o produto",
            ),
            (Time, "dia|dias|hora|horas|minutos|semana|semanas|mes|meses|dias uteis"),
            (
                Not,
                "nao|nao esta|nao estao|ja nao|nunca|jamais|nem|ainda nao|nao ha|nao temos|nao se encontra|nao e|nao sao|tampouco|deixou de estar",
            ),
            (NoneOf, "nenhum|nenhuma|zero|sem|nada"),
            (Be, "e|esta|estao|sao"),
            (Yes, "sim|claro|com certeza"),
            (No, "nao|nenhum|nenhuma|zero|ainda nao|ja nao|infelizmente nao|nada|nao ha|esgotado"),
            (
                Offer,
                "avise me|avisa me|me avise|avisem me|me avisar|avisar|avisar me|aviso|avisos|notifique me|notificar|notificar me|me notifique|notificacao|notificacoes|alerta|alertas|envie me|receber aviso|receba|receber|por e mail|por email|lembrete|lista de espera|informe me|avisaremos|inscreva se|me informe|cadastre",
            ),
            (Condition, "quando|se|assim que|logo que|uma vez|ate|ate que|caso|antes|enquanto|ao voltar|desde que"),
            (
                Future,
                "em breve|brevemente|sera|serao|estara|estarao|previsto|prevista|previsao|esperado|esperada|chegara|chega|chegam|proximo|proxima|voltara|voltarao|havera|vai estar|reposicao|mais tarde|futuramente",
            ),
            (Past, "estava|estavam|esteve|estiveram|era|eram|foi|foram|tinha|havia|antes|anteriormente|ultima vez"),
            (
                Now,
                "agora|atualmente|actualmente|hoje|ja|finalmente|imediatamente|de imediato|neste momento|no momento|de momento|por enquanto|ja esta",
            ),
            (Almost, "quase|praticamente|prestes a"),
            (
                Doubt,
                "talvez|possivelmente|provavelmente|pode|poderia|podera|sob consulta|sob pedido|consulte|consultar|contacte|normalmente|geralmente|as vezes|desconhecido|desconhecida|verificar|verifique|ligue|confirmar|nem todos|nem todas|raramente",
            ),
            (
                Related,
                "similar|similares|semelhante|semelhantes|outro|outra|outros|outras|alternativa|alternativas|relacionados|recomendados|tambem compraram|acessorios",
            ),
            (Or, "ou|nem"),
            (But, "mas|porem|contudo|e|porque|exceto|embora|entretanto"),
            (From, "a partir de|a partir do|em|no|na|dentro de|desde|do dia|para o|dia|apos|no final de|no inicio de"),
            (
                Date,
                "janeiro|fevereiro|marco|abril|maio|junho|julho|agosto|setembro|outubro|novembro|dezembro|segunda|terca|quarta|quinta|sexta|sabado|domingo|amanha|proxima semana|proximo mes|na proxima semana|primavera|verao|outono|inverno|alguns dias|poucos dias",
            ),
            (
                Neutral,
                "nao so|nao apenas|nao somente|nao perca|nao espere|sem problemas|adicionar ao carrinho|comprar agora|ainda|online|este|esta|o|a|os|as|nosso|mais de|nao mais de|infelizmente|sem juros|sem custos",
            ),
        ],
    },
];
